import { Problem } from '../base/problem.ts'
import type { RoomMember } from './member.ts'
import type { Room } from './room.ts'

/** Raises or lowers a member's hand. A hand that is already raised keeps its place in the order. */
export function setHand(room: Room, member: RoomMember, raised: boolean): void {
  if (raised === member.user.hand > 0) return
  const last = Math.max(...Array.from(room.members.values(), ({ user }) => user.hand))
  member.user.hand = raised ? last + 1 : 0
  room.members.userChanged(member)
}

/** Lowers one member's hand, or every hand, for a host. @throws Problem noStream */
export function lowerHand(room: Room, by: RoomMember, userId?: string): void {
  const chosen = userId === undefined ? [...room.members.values()] : [room.members.get(userId)]
  for (const member of chosen) {
    if (member === undefined) throw new Problem('noStream', 'Nobody of this id is in the room.')
    if (member.user.hand === 0) continue
    setHand(room, member, false)
    if (member !== by) member.signalling.send({ type: 'hand_lowered', by: by.user.userId })
  }
}
