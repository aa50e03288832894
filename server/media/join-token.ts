import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'

/** What a join token says. `observer`: watches without being in the room, for the console. */
export const joinTokenSchema = z.strictObject({
  /** Version. */
  v: z.literal(1),
  /** Names the token, so that it can be taken back. */
  id: z.string().min(1).max(64),
  room: z.string().min(1).max(128),
  /** Bound to this user; left out: the person chooses a name and gets an id. */
  user: z.string().min(1).max(128).optional(),
  name: z.string().max(256).optional(),
  role: z.enum(['member', 'host', 'observer']),
  /** Issued and expires, milliseconds since the epoch. */
  iat: z.number(),
  exp: z.number(),
})
export type JoinToken = z.output<typeof joinTokenSchema>

/** What a join link is made for. */
export interface JoinGrant {
  roomId: string
  userId?: string
  userName?: string
  role: JoinToken['role']
  /** Milliseconds that the link is good for. */
  lifeMs: number
}

/** Longest token that is looked at. */
const longest = 4_096

/**
 * A signed join token: `<payload>.<HMAC-SHA-256>`, both base64url.
 * @param key at least 32 bytes, the node's and the controller's alone
 */
export function mintJoinToken(key: Buffer, grant: JoinGrant, now = Date.now()): string {
  const token: JoinToken = {
    v: 1,
    id: randomBytes(9).toString('base64url'),
    room: grant.roomId,
    role: grant.role,
    iat: now,
    exp: now + grant.lifeMs,
  }
  if (grant.userId !== undefined) token.user = grant.userId
  if (grant.userName !== undefined) token.name = grant.userName
  const payload = Buffer.from(JSON.stringify(token), 'utf8').toString('base64url')
  return `${payload}.${signature(key, payload)}`
}

/** The token's content; undefined when it is malformed, forged or expired. */
export function readJoinToken(key: Buffer, text: string, now = Date.now()): JoinToken | undefined {
  if (text.length > longest) return undefined
  const [payload, given, more] = text.split('.')
  if (payload === undefined || given === undefined || more !== undefined) return undefined
  const expected = Buffer.from(signature(key, payload), 'latin1')
  const actual = Buffer.from(given, 'latin1')
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) return undefined
  const token = joinTokenSchema.safeParse(jsonOf(payload))
  return token.success && token.data.exp > now ? token.data : undefined
}

function signature(key: Buffer, payload: string): string {
  return createHmac('sha256', key).update(payload, 'latin1').digest('base64url')
}

function jsonOf(payload: string): unknown {
  try {
    return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
}
