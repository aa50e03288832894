import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { isExpired, type SignedKind, tokenKinds, type TokenTimes } from '../tokens.ts'

const joinClaims = z.strictObject({
  /** Version. */
  v: z.literal(1),
  /** Id of the link, for revocation: unguessable. */
  id: z.string().min(1).max(64),
  room: z.string().min(1).max(128),
  /** User to whom the link is bound; undefined: the user chooses a name and gets an id. */
  user: z.string().min(1).max(128).optional(),
  name: z.string().max(256).optional(),
  /** Short address of the link, which the room page passes on and returns to. */
  url: z.string().max(400).optional(),
  /** `observer`: a hidden viewer, for the console. */
  role: z.enum(['member', 'host', 'observer']),
  /** Time of issue and expiry, in milliseconds since the epoch. */
  iat: z.number(),
  exp: z.number(),
})

interface JanusClaims {
  /** Unix seconds. */
  expiresAt: number
}

/** Claims by kind; `subject`: parts that the signature covers and the text does not contain. */
interface SignedTokens {
  'key-session': { claims: { expiresAt: number; nonce: string }; subject: [] }
  'download-ticket': { claims: { expiresAt: number }; subject: [path: string] }
  'join-token': { claims: Omit<z.output<typeof joinClaims>, 'v'>; subject: [] }
  'entry-pass': {
    claims: {
      /** Milliseconds since the epoch. */
      issuedAt: number
      /** The node generated the user id: the pass proves it. */
      proves: boolean
      /** Mark of the host password that the user gave; empty for a member. */
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
      /** A device's token is valid in a locked room as well: its issuer has checked that the device may enter. */
      role: (typeof roomRoles)[number]
    }
    subject: []
  }
}

/** Content of a token. */
export type TokenClaims<K extends SignedKind> = SignedTokens[K]['claims'] & TokenTimes<K>

declare const verified: unique symbol

/** Content of a token of this kind whose signature and expiry were checked. Made only by `readToken`. */
export type VerifiedToken<K extends SignedKind> = TokenClaims<K> & { readonly [verified]: K }

interface TokenFormat<K extends SignedKind> {
  write: (claims: TokenClaims<K>) => string
  read: (body: string) => TokenClaims<K> | undefined
  /** Text that is signed. */
  signed: (body: string, subject: SignedTokens[K]['subject']) => string
  algorithm: 'sha256' | 'sha1'
  encoding: 'base64url' | 'base64'
  separator: '.' | ':'
}

const own = { algorithm: 'sha256', encoding: 'base64url', separator: '.' } as const
/** `EXP,realm,descriptor…:SIG` (auth.c of Janus 1.1). */
const janus = { algorithm: 'sha1', encoding: 'base64', separator: ':', signed: (body: string) => body } as const
/** Written as their first letters. */
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
  // Its signed text is base64url, which no text of another kind with the same key is.
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
    // A pass of an earlier version has the time of issue only.
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
    // Janus reads `room=` only. The user id is base64url: a comma or colon would end a descriptor.
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

/** Buffer.from would skip characters that are not base64. */
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

/** Issues a signed token. */
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
 * Returns the claims of a token; undefined for one that is malformed, forged, expired, or of another kind or subject.
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
  // The only place that makes this proof.
  return claims === undefined || isExpired(kind, claims, now) ? undefined : (claims as VerifiedToken<K>)
}

/**
 * Returns the claims of a token without verification: for a token that the Janus node has checked, or to revoke a link.
 */
export function unverifiedClaims<K extends 'join-token' | 'janus-room'>(
  kind: K,
  text: string,
): TokenClaims<K> | undefined {
  return formats[kind].read(split(kind, text)?.body ?? '')
}

/** Returns the digest under which a token is stored. */
export function tokenDigest(token: string): string {
  return hash('sha256', token, 'base64url')
}

/** Compares in a time that does not depend on where the texts differ. */
function isSame(expected: string, given: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(given)]
  return one.length === other.length && timingSafeEqual(one, other)
}
