/**
 * Returns the address of a node for this page's scheme: a page loaded by https may call https only, and a node that no
 * longer uses TLS still answers such pages.
 * @param origin e.g. `http://10.0.0.5:7082`
 */
export function inPageScheme(origin: string): string {
  return location.protocol === 'https:' ? origin.replace(/^http:/, 'https:') : origin
}
