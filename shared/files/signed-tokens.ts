import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { isExpired, type SignedKind, tokenKinds, type TokenTimes } from '../tokens.ts'

const joinClaims = z.strictObject({
  /** Version of the claims. */
  v: z.literal(1),
  /** Random id of the link, by which it can be revoked. */
  id: z.string().min(1).max(64),
  room: z.string().min(1).max(128),
  /** User to whom the link is bound; undefined: the user chooses a name, and the node generates an id. */
  user: z.string().min(1).max(128).optional(),
  name: z.string().max(256).optional(),
  /** Short address of the link, which the room page shares and to which it returns. */
  url: z.string().max(400).optional(),
  /** `observer`: an invisible viewer, for the console. */
  role: z.enum(['member', 'host', 'observer']),
  /** Time of issue and time of expiry, in milliseconds since the epoch. */
  iat: z.number(),
  exp: z.number(),
})

interface JanusClaims {
  /** Expiry in seconds since the epoch. */
  expiresAt: number
}

/** Claims of each kind of token. `subject`: values that are signed but not contained in the token. */
interface SignedTokens {
  'key-session': { claims: { expiresAt: number; nonce: string }; subject: [] }
  'download-ticket': { claims: { expiresAt: number }; subject: [path: string] }
  'join-token': { claims: Omit<z.output<typeof joinClaims>, 'v'>; subject: [] }
  'entry-pass': {
    claims: {
      /** Time of issue, in milliseconds since the epoch. */
      issuedAt: number
      /** Whether the node generated the user id, so that the pass proves this id. */
      proves: boolean
      /** Digest of the host password that the user gave; empty: a member. */
      host: string
    }
    subject: [roomId: string, userId: string]
  }
  'janus-core': { claims: JanusClaims; subject: [] }
  'janus-controller': { claims: JanusClaims; subject: [] }
  'janus-room': {
    claims: JanusClaims & {
      /** Name of the room on the node. */
      room: string
      userId: string
      /**
       * Role of the user. A token of a device is also valid in a locked room, because its issuer has checked its
       * admission.
       */
      role: (typeof roomRoles)[number]
    }
    subject: []
  }
}

/** Content of a token. */
export type TokenClaims<K extends SignedKind> = SignedTokens[K]['claims'] & TokenTimes<K>

declare const verified: unique symbol

/** Claims of a token whose signature and expiry were verified. Only `readToken` creates values of this type. */
export type VerifiedToken<K extends SignedKind> = TokenClaims<K> & { readonly [verified]: K }

interface TokenFormat<K extends SignedKind> {
  write: (claims: TokenClaims<K>) => string
  read: (body: string) => TokenClaims<K> | undefined
  /** Returns the text to sign. */
  signed: (body: string, subject: SignedTokens[K]['subject']) => string
  algorithm: 'sha256' | 'sha1'
  encoding: 'base64url' | 'base64'
  separator: '.' | ':'
}

const own = { algorithm: 'sha256', encoding: 'base64url', separator: '.' } as const
/** Format of Janus tokens: `EXP,realm,descriptor…:SIG` (auth.c of Janus 1.1). */
const janus = { algorithm: 'sha1', encoding: 'base64', separator: ':', signed: (body: string) => body } as const
/** Roles of a room token, in which each is written as its first letter. */
const roomRoles = ['host', 'member', 'device'] as const
const roomTokenBody = /^(\d{1,15}),janus\.plugin\.videoroom,room=(.+),u=([\w-]*),r=([hmd])$/s

const formats: { readonly [K in SignedKind]: TokenFormat<K> } = {
  'key-session': {
    ...own,
    write: ({ expiresAt, nonce }) => `${expiresAt}.${nonce}`,
    read: (body) => ({ expiresAt: Number(body.split('.', 1)[0]), nonce: body.slice(body.indexOf('.') + 1) }),
    signed: (body) => `${tokenKinds['key-session'].purpose} ${body}`,
  },
  'download-ticket': {
    ...own,
    write: ({ expiresAt }) => String(expiresAt),
    read: (body) => ({ expiresAt: Number(body) }),
    signed: (body, [path]) => `${tokenKinds['download-ticket'].purpose} ${body} ${path}`,
  },
  // The signed text is pure base64url, unlike that of all other kinds with the same key, so the kinds cannot be
  // confused.
  'join-token': {
    ...own,
    write: ({ id, room, role, iat, exp, user, name, url }) =>
      Buffer.from(JSON.stringify({ v: 1, id, room, role, iat, exp, user, name, url })).toString('base64url'),
    read: readJoinClaims,
    signed: (body) => body,
  },
  'entry-pass': {
    ...own,
    write: ({ issuedAt, proves, host }) => [issuedAt.toString(36), proves ? 'id' : '', host].join('.'),
    // A pass from an earlier version contains only the time of issue.
    read: (body) => {
      const [issued = '', proves = '', host = ''] = body.split('.')
      return { issuedAt: Number.parseInt(issued, 36), proves: proves === 'id', host }
    },
    signed: (body, subject) => JSON.stringify([tokenKinds['entry-pass'].purpose, ...subject, ...body.split('.')]),
  },
  'janus-core': janusFormat(tokenKinds['janus-core'].purpose),
  'janus-controller': janusFormat(tokenKinds['janus-controller'].purpose),
  'janus-room': {
    ...janus,
    // Janus evaluates only `room=`. The user id is base64url, because a comma or colon would end a descriptor.
    write: ({ room, userId, role, expiresAt }) => {
      const name = Buffer.from(userId, 'utf8').toString('base64url')
      return `${expiresAt},${tokenKinds['janus-room'].purpose},room=${room},u=${name},r=${role.charAt(0)}`
    },
    read: (body) => {
      const [, expires, room = '', name = '', letter] = roomTokenBody.exec(body) ?? []
      const role = roomRoles.find((each) => letter !== undefined && each.startsWith(letter))
      return role && { room, userId: Buffer.from(name, 'base64url').toString('utf8'), role, expiresAt: Number(expires) }
    },
  },
}

function janusFormat(purpose: string): TokenFormat<'janus-core'> & TokenFormat<'janus-controller'> {
  return {
    ...janus,
    write: ({ expiresAt }) => `${expiresAt},${purpose}`,
    read: (body) => {
      const expiresAt = Number.parseInt(body)
      return body === `${expiresAt},${purpose}` ? { expiresAt } : undefined
    },
  }
}

/**
 * Parses the claims of a join token; undefined: invalid. Uses `atob`, because `Buffer.from` ignores characters that are
 * not base64.
 */
function readJoinClaims(body: string): TokenClaims<'join-token'> | undefined {
  try {
    const bytes = Uint8Array.from(atob(body.replaceAll('-', '+').replaceAll('_', '/')), (byte) => byte.charCodeAt(0))
    return joinClaims.safeParse(JSON.parse(new TextDecoder().decode(bytes))).data
  } catch {
    return undefined
  }
}

/** Maximum length of a token, in characters. */
const maxToken = 4_096

function split(kind: SignedKind, text: string): { body: string; signature: string } | undefined {
  const cut = text.length > maxToken ? -1 : text.lastIndexOf(formats[kind].separator)
  return cut === -1 ? undefined : { body: text.slice(0, cut), signature: text.slice(cut + 1) }
}

function signatureOf<K extends SignedKind>(
  kind: K,
  key: Buffer | string,
  body: string,
  subject: SignedTokens[K]['subject'],
): string {
  const { algorithm, encoding, signed } = formats[kind]
  return createHmac(algorithm, key).update(signed(body, subject)).digest(encoding)
}

export function issueToken<K extends SignedKind>(
  kind: K,
  key: Buffer | string,
  claims: TokenClaims<K>,
  ...subject: SignedTokens[K]['subject']
): string {
  const body = formats[kind].write(claims)
  return `${body}${formats[kind].separator}${signatureOf(kind, key, body, subject)}`
}

/**
 * Returns the claims of a valid token; undefined: malformed, forged or expired, or of another kind or subject.
 * @param now milliseconds since the epoch
 */
export function readToken<K extends SignedKind>(
  kind: K,
  key: Buffer | string,
  text: string,
  now: number,
  ...subject: SignedTokens[K]['subject']
): VerifiedToken<K> | undefined {
  const parts = split(kind, text)
  if (parts === undefined || !isSame(signatureOf(kind, key, parts.body, subject), parts.signature)) return undefined
  const claims = formats[kind].read(parts.body)
  // The only place that creates a `VerifiedToken`.
  return claims === undefined || isExpired(kind, claims, now) ? undefined : (claims as VerifiedToken<K>)
}

/**
 * Returns the claims of a token without verification; undefined: malformed. For tokens that a Janus node has verified,
 * and for revoking links.
 */
export function unverifiedClaims<K extends 'join-token' | 'janus-room'>(
  kind: K,
  text: string,
): TokenClaims<K> | undefined {
  return formats[kind].read(split(kind, text)?.body ?? '')
}

/** Returns the digest by which a token is stored. */
export function tokenDigest(token: string): string {
  return hash('sha256', token, 'base64url')
}

/** Compares two texts in a time that is independent of the position of the first difference. */
function isSame(expected: string, given: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(given)]
  return one.length === other.length && timingSafeEqual(one, other)
}
