import type { LinkState } from '../network.ts'
import type { SimulatedController, SimulatedSite } from '../site/controller.ts'

/** One fault: it begins, lasts, and ends. */
export interface Fault {
  name: string
  /** Acknowledged changes may be lost by it: the database itself loses them. */
  loses?: true
  /** @returns what ends it; undefined: it cannot happen now */
  begin: (site: SimulatedSite) => (() => void) | undefined
}

export const another = (site: SimulatedSite, than: SimulatedController): SimulatedController | undefined => {
  const others = site.controllers.filter((controller) => controller !== than && controller.member !== undefined)
  return others.length === 0 ? undefined : site.world.pick(others)
}
export const leaderOf = (site: SimulatedSite): SimulatedController | undefined =>
  site.controllers.find(({ leads }) => leads)
/** Mostly the one that leads. */
export const someController = (site: SimulatedSite): SimulatedController =>
  (site.world.chance(0.7) ? leaderOf(site) : undefined) ?? site.world.pick(site.controllers)
export const primaryOf = (site: SimulatedSite) => site.servers.find(({ role }) => role === 'primary')

/** Cuts packets between two sets of machines. */
export function cut(
  site: SimulatedSite,
  from: readonly string[],
  to: readonly string[],
  state: LinkState,
  oneWay = false,
): () => void {
  for (const one of from)
    for (const other of to) {
      site.network.set(one, other, state)
      if (!oneWay) site.network.set(other, one, state)
    }
  return () => {
    for (const one of from)
      for (const other of to) {
        site.network.set(one, other, 'open')
        if (!oneWay) site.network.set(other, one, 'open')
      }
  }
}

export const names = (of: readonly { name: string }[]): string[] => of.map(({ name }) => name)
