import type { EventEntry } from '../../shared/console/events.ts'
import type { NodeUser } from '../nodes/port/media-node-port.ts'
import { shownAddress } from '../observe/redaction/address.ts'
import type { StoredCredential, StoredDevice, StoredNode, StoredRoom } from '../store/records.ts'

/** Texts by which a search finds a record; none of them is a secret. */
export const searchedTexts = {
  room: ({ topic, room_id, owner_id, tags = [] }: StoredRoom): string[] => [topic, room_id, owner_id, ...tags],
  person: ({ userName, userId }: NodeUser): string[] => [userName, userId],
  /** For those who may change cameras: they see its whole address, too. */
  camera: (device: StoredDevice): string[] => [...searchedTexts.cameraForViewers(device), device.userAddress],
  cameraForViewers: ({ userName, userId, userAddress, tags = [] }: StoredDevice): string[] => [
    userName,
    userId,
    shownAddress(userAddress),
    ...tags,
  ],
  node: ({ name, addresses }: StoredNode): string[] => [name, ...addresses.map(({ addr }) => addr)],
  credential: ({ label, access_key }: StoredCredential): string[] => [label, access_key],
  event: ({ kind, actor, subject, room, params }: EventEntry): string[] => [
    subject.name,
    subject.id,
    room,
    actor.name,
    actor.address,
    kind.replace('.', ' '),
    ...Object.values(params).map(String),
  ],
} as const
