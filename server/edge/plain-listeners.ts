import { leavesMachine } from '../../shared/bind-address.ts'

/** Returns the names of listeners that use plain HTTP with other machines. */
export function plainListeners<Name extends string>(
  listeners: readonly { name: Name; state: string; url: string; urls: readonly string[] }[],
): Name[] {
  const isOpen = (url: string): boolean =>
    url.startsWith('http:') && leavesMachine(new URL(url).hostname.replace(/^\[|\]$/g, ''))
  return listeners
    .filter(({ state, url, urls }) => state === 'listening' && [url, ...urls].some(isOpen))
    .map(({ name }) => name)
}
