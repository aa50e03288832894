import { loginOf } from '../../server/devices/stored-login.ts'
import type { StoredNode, StoredRoom } from '../../server/store/records.ts'
import type { Store } from '../../server/store/store.ts'

/** Makes a node record; by default enabled, simulated, without limits. */
export function storedNode(name: string, fields: Partial<StoredNode> = {}): StoredNode {
  return {
    name,
    kind: 'simulated',
    enabled: true,
    addresses: [],
    idc_code: '',
    weight: 1,
    max_rooms: 0,
    max_users: 0,
    created_at: 1,
    draining: false,
    port: 0,
    ws_url: '',
    admin_url: '',
    secrets_sealed: '',
    ...fields,
  }
}

/** Makes a room record; by default for 100 people, never assigned. */
export function storedRoom(roomId: string, fields: Partial<StoredRoom> = {}): StoredRoom {
  return {
    id: 1,
    room_id: roomId,
    topic: 'weekly',
    owner_id: 'ann',
    host_password_sealed: '',
    attendee_max: 100,
    max_audio: 16,
    max_video: 16,
    room_extend_id: '',
    room_mode: 1,
    locked: false,
    closed: false,
    node: '',
    created_by: '',
    created_at: 1,
    ...fields,
  }
}

/** Opens the stored password of an outgoing user; empty: it has none. */
export function passwordOf(store: Pick<Store, 'get' | 'unseal'>, userId: string): string {
  const device = store.get('devices', userId)
  return device === undefined ? '' : (loginOf(device, store)?.password ?? '')
}
