import { createHmac } from 'node:crypto'

const videoRoom = 'janus.plugin.videoroom'
const streaming = 'janus.plugin.streaming'

/** Content of a room token, in this product's form of Janus's signed tokens. */
export interface RoomToken {
  /** Name of the room on the node. */
  room: string
  userId: string
  /** A device's token is also valid in a locked room: its issuer has checked that the device may enter. */
  role: 'host' | 'member' | 'device'
  /** Unix seconds. */
  expiresAt: number
}

const letters = { host: 'h', member: 'm', device: 'd' } as const
const roles = { h: 'host', m: 'member', d: 'device' } as const

/**
 * Returns a signed core token of Janus. The form is `EXP,realm,descriptor…:SIG`, with an HMAC-SHA-1 signature in base64
 * (auth.c of Janus 1.1). Core tokens have the realm `janus`, and list the permitted plugins.
 * @param expiresAt Unix seconds
 */
export function coreToken(secret: string, expiresAt: number): string {
  return signed(secret, `${expiresAt},janus,${videoRoom}`)
}

/**
 * Returns a core token for the controller itself, which also permits cameras. Needed on a node without an API secret.
 */
export function ownCoreToken(secret: string, expiresAt: number): string {
  return signed(secret, `${expiresAt},janus,${videoRoom},${streaming}`)
}

/**
 * Returns the token with which one person joins one room. Janus checks `room=`. The user is added so that the token can
 * be revoked with its owner; names are base64url, because a comma or colon would end a descriptor.
 */
export function roomToken(secret: string, { room, userId, role, expiresAt }: RoomToken): string {
  const name = Buffer.from(userId, 'utf8').toString('base64url')
  return signed(secret, `${expiresAt},${videoRoom},room=${room},u=${name},r=${letters[role]}`)
}

const form = /^(\d{1,15}),janus\.plugin\.videoroom,room=(.+),u=([\w-]*),r=([hmd]):[\w+/=]+$/s

/**
 * Parses a room token of this product. Returns undefined for any other text. Does not verify the signature, which Janus
 * has checked.
 */
export function readRoomToken(token: string): RoomToken | undefined {
  const [, expires, room, name, role] = form.exec(token) ?? []
  if (expires === undefined || room === undefined || name === undefined) return undefined
  return {
    room,
    userId: Buffer.from(name, 'base64url').toString('utf8'),
    role: roles[role === 'h' || role === 'd' ? role : 'm'],
    expiresAt: Number(expires),
  }
}

function signed(secret: string, text: string): string {
  return `${text}:${createHmac('sha1', secret).update(text).digest('base64')}`
}
