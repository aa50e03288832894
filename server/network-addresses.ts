import { networkInterfaces } from 'node:os'

/** `http://host:port` for every address under which others reach a listener bound to `host`: one for a single address, all of the machine's for a wildcard. */
export function reachableUrls(url: string): string[] {
  if (url === '') return []
  const { protocol, hostname, port } = new URL(url)
  if (hostname !== '0.0.0.0' && hostname !== '[::]') return [url]
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const usable = addresses.filter(({ family, address }) => family === 'IPv4' || (hostname === '[::]' && !address.startsWith('fe80:')))
  return usable.map(({ family, address }) => `${protocol}//${family === 'IPv6' ? `[${address}]` : address}:${port}`)
}

/** A host as a URL spells it: IPv6 in brackets. */
export function urlHost(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
