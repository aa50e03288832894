import type { CapabilityKind } from './capabilities.ts'
import { operator, type ProcedureAccess, viewer } from './procedure-access.ts'

/**
 * Access required for each kind of capability: for an account that creates one, and for every caller who ends one, even
 * of another maker. A new kind without an entry here does not compile.
 */
export const capabilityAccess: Readonly<Record<CapabilityKind, ProcedureAccess>> = {
  // Every account with access to a room may invite members; for hosts, see `Capabilities.prepare`.
  join: viewer('links:write'),
  'live-link': operator('recordings:write'),
  'recorded-link': operator('recordings:write'),
  live: operator('recordings:write'),
  push: operator('recordings:write'),
  // Ending it stops the recording, and invalidates the addresses of its files.
  recording: operator('recordings:write'),
  // It is a copy of readable data, and its maker can also cancel it.
  export: operator('recordings:read'),
}
