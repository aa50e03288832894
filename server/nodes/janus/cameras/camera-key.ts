import { createHmac } from 'node:crypto'
import { cameraKey, type CameraSource } from '../../../../shared/device-address.ts'

/** Prefix of the names of this site's mountpoints. */
export const ourMountpoints = 'roomdesk-'

/** Camera that a node pulls once for all rooms, identified by its address and login. */
export interface Camera extends CameraSource {
  /** Id of its mountpoint. The same camera on the same node always has the same id, which cannot be guessed. */
  id: string
  /** Secret required to change the mountpoint or read the login. */
  secret: string
  /** PIN required to watch the mountpoint. */
  pin: string
}

/**
 * Returns the camera with the derived id and secrets of its mountpoint.
 * @param roomKey secret of the node
 */
export function cameraOf({ address, login }: CameraSource, roomKey: string): Camera {
  const id = ourMountpoints + derived(roomKey, 'mountpoint', cameraKey({ address, login })).slice(0, 22)
  return { id, address, login, secret: mountpointSecret(roomKey, id), pin: derived(roomKey, 'pin', id) }
}

/** Returns the secret of a mountpoint of this site. */
export function mountpointSecret(roomKey: string, id: string): string {
  return derived(roomKey, 'secret', id)
}

function derived(roomKey: string, purpose: string, text: string): string {
  return createHmac('sha256', roomKey).update(`camera ${purpose} ${text}`).digest('base64url')
}
