import type { RoomStanding } from '../../../shared/authorization/room-standing.ts'
import { Problem } from '../base/problem.ts'
import type { Admission } from './admission.ts'

/** An admission with one of the given standings. */
export type AdmittedAs<S extends RoomStanding> = 'observer' extends S
  ? Admission
  : Exclude<Admission, { kind: 'observer' }>

/** Returns the admission if it has one of these standings. @throws Problem unauthorised */
export function admittedAs<S extends RoomStanding>(admission: Admission, allowed: readonly S[]): AdmittedAs<S> {
  const standing = standingOf(admission)
  if (allowed.some((one) => one === standing)) return admission as AdmittedAs<S>
  throw new Problem('unauthorised', standing === 'observer' ? 'This link is for watching only.' : undefined)
}

function standingOf(admission: Admission): RoomStanding {
  if (admission.kind === 'observer') return 'observer'
  return admission.kind === 'member' ? admission.member.standing : admission.identity.role
}
