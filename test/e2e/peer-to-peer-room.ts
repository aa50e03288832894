import { RoomSite, type Visitor } from '../support/sites/room-site.ts'

/** A peer-to-peer room with a camera in it. */
export interface PeerToPeerRoom {
  site: RoomSite
  room: string
  /** Joins by a personal link. */
  join(userId: string, name: string): Promise<Visitor>
}

export async function openPeerToPeerRoom(): Promise<PeerToPeerRoom> {
  const site = await RoomSite.start()
  const room = await site.room({ topic: 'Field talk', room_mode: 3 })
  await site.camera(room, 'yard', '停车场')
  const join = async (userId: string, name: string): Promise<Visitor> =>
    await site.join(await site.link(room, { user_id: userId, user_name: name }))
  return { site, room, join }
}
