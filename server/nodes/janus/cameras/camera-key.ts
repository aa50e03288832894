import { createHmac } from 'node:crypto'
import { cameraKey, type CameraSource } from '../../../../shared/device-address.ts'

/** Prefix of our mountpoints' names. */
export const ourMountpoints = 'roomdesk-'

/** A camera as a node pulls it: one for all rooms, by its address and login. */
export interface Camera extends CameraSource {
  /** Id of its mountpoint: the same for the same camera on the same node, and not guessable. */
  id: string
  /** Secret with which the mountpoint can be changed, and the login read. */
  secret: string
  /** PIN with which the mountpoint can be watched. */
  pin: string
}

/** @param roomKey of the node */
export function cameraOf({ address, login }: CameraSource, roomKey: string): Camera {
  const id = ourMountpoints + derived(roomKey, 'mountpoint', cameraKey({ address, login })).slice(0, 22)
  return { id, address, login, secret: mountpointSecret(roomKey, id), pin: derived(roomKey, 'pin', id) }
}

/** The secret of one of our mountpoints. */
export function mountpointSecret(roomKey: string, id: string): string {
  return derived(roomKey, 'secret', id)
}

function derived(roomKey: string, purpose: string, text: string): string {
  return createHmac('sha256', roomKey).update(`camera ${purpose} ${text}`).digest('base64url')
}
