// Package forge speaks to the Git host: branch rules, code owners, pull
// requests, reviews, checks and merges on GitHub or GitHub Enterprise Server.
//
// It must never go round a rule of the branch: it has no call that overrides
// one, and a merge that GitHub refuses is an answer, not an obstacle.
//
// Why polling with conditional requests and no webhook: a bot inside a
// cluster has no address that GitHub could reach, and an unchanged answer
// (304) costs nothing of the rate limit.
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests-if-appropriate
package forge
