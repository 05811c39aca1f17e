// Prints what Slack's own type package says of every Block Kit object: its
// fields, which of them must be there, and the comment beside each.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const folder = process.env.PEER_FOLDER;
const require = createRequire(folder + '/');
const ts = require('typescript');
const root = join(folder, 'node_modules/@slack/types/dist');
const program = ts.createProgram([join(root, 'index.d.ts')], { strict: true, module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext });
const checker = program.getTypeChecker();
const out = [];

for (const source of program.getSourceFiles()) {
  if (!source.fileName.startsWith(join(root, 'block-kit')) && !source.fileName.endsWith('/views.d.ts')) continue;
  source.forEachChild((node) => {
    if (!ts.isInterfaceDeclaration(node) && !ts.isTypeAliasDeclaration(node)) return;
    const type = checker.getTypeAtLocation(node.name);
    if (type.isUnion()) return;
    const fields = {};
    for (const p of checker.getPropertiesOfType(type)) {
      const t = checker.getTypeOfSymbolAtLocation(p, node);
      fields[p.name] = {
        optional: Boolean(p.flags & ts.SymbolFlags.Optional),
        type: checker.typeToString(t, undefined, ts.TypeFormatFlags.NoTruncation),
        doc: ts.displayPartsToString(p.getDocumentationComment(checker))
          + p.getJsDocTags(checker).map((d) => ' ' + ts.displayPartsToString(d.text)).join(''),
      };
    }
    out.push({ name: node.name.text, fields });
  });
}
process.stdout.write(JSON.stringify(out));
