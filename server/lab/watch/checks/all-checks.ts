import { type ClientCheckId, clientCheckIds } from '../../../../shared/domain/client-checks.ts'
import type { ClientCheck } from '../check.ts'
import { connectionChecks } from './connections.ts'
import { refusalChecks } from './refusals.ts'
import { requestChecks } from './requests.ts'
import { roomChecks } from './rooms.ts'
import { signInChecks } from './sign-in.ts'

/** Checks of clients, in the order of the report. */
export const allChecks: readonly ClientCheck[] = [
  ...signInChecks,
  ...requestChecks,
  ...refusalChecks,
  ...roomChecks,
  ...connectionChecks,
].sort((one, other) => placeOf(one.id) - placeOf(other.id))

function placeOf(id: ClientCheckId): number {
  return clientCheckIds.indexOf(id)
}
