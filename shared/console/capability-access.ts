import type { CapabilityKind } from './capabilities.ts'
import { operator, type ProcedureAccess, viewer } from './procedure-access.ts'

/**
 * Access to each kind of capability: required of an account that makes one, and of everybody who ends one, also another maker's. A new kind without an entry here does not compile.
 */
export const capabilityAccess: Readonly<Record<CapabilityKind, ProcedureAccess>> = {
  // Anybody with access to a room may invite members; for hosts, see `Capabilities.prepare`.
  join: viewer('links:write'),
  'live-link': operator('recordings:write'),
  'recorded-link': operator('recordings:write'),
  live: operator('recordings:write'),
  push: operator('recordings:write'),
  // Its end stops the recording, and voids the addresses of its files.
  recording: operator('recordings:write'),
  // A read copy, which its maker also cancels.
  export: operator('recordings:read'),
}
