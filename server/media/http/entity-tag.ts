/** One entity tag of a list, weak or strong, or whatever stands between two commas (RFC 9110, section 8.8.3). */
const listed = /(?:W\/)?"[^"]*"|[^\s,]+/g

/**
 * Whether a request's If-Match holds for what has this entity tag (RFC 9110, section 13.1.1): by strong comparison, so that a weak tag never matches.
 * @param field empty when the request has none; WHIP clients write the asterisk in quotes too
 * @param etag a strong one, in its quotes
 */
export function ifMatchHolds(field: string, etag: string): boolean {
  if (field === '' || field === '*' || field === '"*"') return true
  return field.match(listed)?.some((tag) => tag === etag) ?? false
}
