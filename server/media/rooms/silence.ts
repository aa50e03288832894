import type { RoomMember } from './member.ts'
import type { Room } from './room.ts'

/**
 * Mutes a member: media of this kind is not forwarded until the member unmutes or publishes again.
 * @param by id of the host; empty: the operator
 */
export function silence(room: Room, member: RoomMember, kind: 'audio' | 'video', by: string): void {
  const feed = member.publications.get('main')?.feed
  if (kind === 'audio') {
    member.live.audio = false
    if (feed !== undefined) feed.sound.muted = true
  } else {
    member.live.video = false
    if (feed !== undefined) feed.videoMuted = true
  }
  if (room.config.isRemote) room.remote.mute(member, kind, true, by)
  room.remote.listen()
  member.signalling.send({ type: 'muted', by, kind })
  room.members.notifyChanged(member)
}

/** Ends mutes by a host for the kinds of media that the member has turned on again. */
export function speakUp(room: Room, member: RoomMember, { audio, video }: { audio: boolean; video: boolean }): void {
  const feed = member.publications.get('main')?.feed
  if (feed !== undefined) {
    feed.sound.muted &&= !audio
    feed.videoMuted &&= !video
    if (video) feed.requestKeyFrame()
  }
  if (audio) room.remote.mute(member, 'audio', false)
  if (video) room.remote.mute(member, 'video', false)
  room.remote.listen()
}
