import { createHmac } from 'node:crypto'
import { parseDeviceAddress } from '../../../../shared/device-address.ts'
import type { NodeDevice } from '../../port/media-node-port.ts'

/** What the mountpoints that are ours begin with. */
export const ourMountpoints = 'roomdesk-'

/** A camera as a node pulls it: one for all rooms, by its address and login. */
export interface Camera {
  /** Of its mountpoint: the same for the same camera on the same node, and nothing that anybody else can guess. */
  id: string
  /** Whoever has it may change the mountpoint, and see the login. */
  secret: string
  /** Whoever has it may watch the mountpoint. */
  pin: string
  /** As the camera is asked for, without login. */
  url: string
  login: NodeDevice['login']
}

/** @param roomKey of the node */
export function cameraOf({ address, login }: Pick<NodeDevice, 'address' | 'login'>, roomKey: string): Camera {
  const { canonical, requestUrl } = parseDeviceAddress(address)
  const identity = JSON.stringify([canonical, login?.name ?? '', login?.password ?? ''])
  const id = ourMountpoints + derived(roomKey, 'mountpoint', identity).slice(0, 22)
  return { id, url: requestUrl, login, secret: mountpointSecret(roomKey, id), pin: derived(roomKey, 'pin', id) }
}

/** The secret of one of our mountpoints. */
export function mountpointSecret(roomKey: string, id: string): string {
  return derived(roomKey, 'secret', id)
}

function derived(roomKey: string, purpose: string, text: string): string {
  return createHmac('sha256', roomKey).update(`camera ${purpose} ${text}`).digest('base64url')
}
