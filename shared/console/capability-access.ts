import type { CapabilityKind } from './capabilities.ts'
import { operator, type ProcedureAccess, viewer } from './procedure-access.ts'

/**
 * Access required for each kind of capability: for an account that creates one, and for every caller who ends one,
 * including capabilities of other makers. A new kind without an entry here does not compile.
 */
export const capabilityAccess: Readonly<Record<CapabilityKind, ProcedureAccess>> = {
  // Every account with access to a room may invite members. See `Capabilities.prepare` for links of hosts.
  join: viewer('links:write'),
  'live-link': operator('recordings:write'),
  'recorded-link': operator('recordings:write'),
  live: operator('recordings:write'),
  push: operator('recordings:write'),
  // Ending the capability stops the recording, and invalidates the addresses of its files.
  recording: operator('recordings:write'),
  // An export is a copy of data that the caller may read. Its maker can also cancel it.
  export: operator('recordings:read'),
}
