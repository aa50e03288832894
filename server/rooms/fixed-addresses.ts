import type { Settings } from '../../shared/settings.ts'
import type { StoredNode } from '../store/records.ts'

/**
 * Returns a warning for each configured address that leads to a single machine, on a site with several controllers. An
 * address that follows the leader (a virtual address, a load balancer) is correct. A fixed address stops working when
 * its machine is lost.
 */
export function fixedAddresses(
  nodes: Iterable<Pick<StoredNode, 'name' | 'kind' | 'enabled' | 'addresses'>>,
  { media }: Pick<Settings, 'media'>,
): string[] {
  const found: string[] = []
  for (const { name, kind, enabled, addresses } of nodes)
    if (kind === 'embedded' && enabled && addresses.length > 0)
      found.push(
        `The embedded node ${name} has an address of its own (${addresses.map(({ addr }) => addr).join(', ')})`,
      )
  if (media.advertised.length > 0)
    found.push(`The media settings name addresses that are offered to browsers (${media.advertised.join(', ')})`)
  return found.map(
    (what) =>
      `${what}: it has to lead to whichever controller leads. Where it is that of one machine, leave it out: each controller is then reached by its own.`,
  )
}
