import type { Logger } from 'pino'
import { Capabilities } from '../capabilities/capabilities.ts'
import { HolderPages } from '../capabilities/holder-pages.ts'
import type { EventSink } from '../event-log/event-log.ts'
import { recordHolders } from '../event-log/sources/access.ts'
import type { Store } from '../store/store.ts'
import { wallClock } from '../store/system/time.ts'

/** Options of the capabilities. */
export interface CapabilityOptions {
  store: Store
  logger: Logger
  events: EventSink
  accountClock?: (() => number) | undefined
}

/** Capabilities of a site, and the pages of people who hold one. */
export interface CapabilityParts {
  capabilities: Capabilities
  pages: HolderPages
}

/** Composes the capabilities. */
export function capabilityParts({ store, logger, events, accountClock }: CapabilityOptions): CapabilityParts {
  const capabilities = new Capabilities({
    ...{ store, logger },
    clock: accountClock ?? wallClock,
    used: recordHolders(store, events),
  })
  return { capabilities, pages: new HolderPages({ capabilities, leadership: store.leadership }) }
}
