/**
 * A request target in origin form (path and query): what names its host first, as requests to a proxy do, without the host (RFC 9112, section 3.2.2).
 * `*` stays as it is. Undefined for what is neither a path nor a URL of HTTP.
 */
export function originForm(target: string): string | undefined {
  if (target.startsWith('/') || target === '*') return target
  const [, host, rest = ''] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(target) ?? []
  if (host === undefined || !URL.canParse(`http://${host}`)) return undefined
  return rest.startsWith('/') ? rest : `/${rest}`
}
