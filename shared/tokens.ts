const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const consoleSessionMs = 7 * day
const entryPassMs = 12 * hour

/** Description of a kind of token. */
interface TokenKindRow {
  /**
   * Text that distinguishes the kind from other kinds: a prefix, the first part of the signed text, or the kind of the
   * stored record; empty: none.
   */
  purpose: string
  /**
   * Lifetime in milliseconds: fixed (`ms`), or a range (`minMs` to `maxMs`). `setting`: the setting that contains it;
   * `with`: the object with which the token ends.
   */
  lifetime: Readonly<Record<string, number | string>>
  /** Program that accepts the token. */
  audience: string
  /**
   * Form of the proof. `stored`: a record under the digest of the token. `signed`: see signed-tokens.ts. `sealed`:
   * encrypted. `memory`: in the memory of one process.
   */
  proof: 'stored' | 'signed' | 'sealed' | 'memory'
  revocation: string
  /** Returns the expiry in milliseconds since the epoch, from the claims or the stored record. */
  end: (times: never) => number
}

const storedEnd = ({ expires_at }: { expires_at: number }): number => expires_at || Number.POSITIVE_INFINITY
const signedEnd = ({ expiresAt }: { expiresAt: number }): number => expiresAt
/** Converts the expiry of a Janus token, which is in seconds since the epoch. */
const janusEnd = ({ expiresAt }: { expiresAt: number }): number => expiresAt * 1_000
const endless = (): number => Number.POSITIVE_INFINITY

const capability = {
  audience: 'media port',
  proof: 'stored',
  revocation: 'revoke the capability, disable its maker, delete its content',
  end: storedEnd,
} as const
const mediaLink = { ...capability, lifetime: { minMs: minute, maxMs: 30 * day, defaultMs: hour } } as const
const joinLifetime = { minMs: minute, maxMs: 30 * day, setting: 'media.link_life_ms' } as const
const janus = {
  audience: 'Janus node',
  proof: 'signed',
  revocation: 'change the token_secret of the node',
  end: janusEnd,
} as const

/**
 * All kinds of tokens that the site issues. The key of a capability is the `kind` of its record. Proofs of requests
 * between controllers are not tokens, but signatures of one request (request-proof.ts).
 */
export const tokenKinds = {
  // `issueToken` does not issue this kind: the client computes the token itself (specification, section 5).
  'api-session': {
    purpose: '',
    lifetime: { setting: 'access.token_idle_ms, access.token_life_ms' },
    audience: 'media API, device API, older clients',
    proof: 'stored',
    revocation: 'change the credential',
    // Unlike tokens of other kinds, this token is still valid in the last millisecond of its lifetime (contract,
    // section 2).
    end: (times: { usedAt: number; createdAt: number; idleMs: number; lifeMs: number }) =>
      Math.min(times.usedAt + times.idleMs, times.createdAt + times.lifeMs) + 1,
  },
  'access-token': {
    purpose: 'rdp_',
    lifetime: { minMs: day, maxMs: 366 * day, defaultMs: 90 * day },
    audience: 'console',
    proof: 'stored',
    revocation: 'revoke it, disable the account, change the password',
    end: storedEnd,
  },
  'account-session': {
    purpose: '',
    lifetime: { ms: consoleSessionMs },
    audience: 'console',
    proof: 'stored',
    revocation: 'sign out, disable the account, change the password',
    end: ({ created_at }: { created_at: number }) => created_at + consoleSessionMs,
  },
  'key-session': {
    purpose: 'console session',
    lifetime: { ms: consoleSessionMs },
    audience: 'console of one controller',
    proof: 'signed',
    revocation: 'sign out, replace the console key',
    end: signedEnd,
  },
  'download-ticket': {
    purpose: 'console ticket',
    lifetime: { ms: hour },
    audience: 'one path of the console',
    proof: 'signed',
    revocation: 'end its session',
    end: signedEnd,
  },
  join: { ...capability, purpose: 'join', lifetime: { ...joinLifetime, ownMs: hour } },
  'live-link': { ...mediaLink, purpose: 'live-link' },
  'recorded-link': { ...mediaLink, purpose: 'recorded-link' },
  live: { ...capability, purpose: 'live', lifetime: { with: 'the live stream' } },
  push: {
    ...capability,
    purpose: 'push',
    lifetime: { with: 'the live stream' },
    audience: 'nobody: its record ends it',
  },
  recording: { ...capability, purpose: 'recording', lifetime: { with: 'the recording' } },
  export: { ...capability, purpose: 'export', lifetime: { ms: day }, audience: 'console' },
  // The room page also evaluates `exp`, without verification, to show that a link has expired.
  'join-token': {
    purpose: '',
    lifetime: { with: 'its link', pageMs: day, previewMs: minute },
    audience: 'embedded nodes, for one room',
    proof: 'signed',
    revocation: 'revoke its link, remove its user from the room',
    end: ({ exp }: { exp: number }) => exp,
  },
  'entry-pass': {
    purpose: 'pass',
    lifetime: { ms: entryPassMs },
    audience: 'embedded nodes, for one room and user',
    proof: 'signed',
    revocation: 'remove the user, revoke the links of the room, end the meeting',
    end: ({ issuedAt }: { issuedAt: number }) => issuedAt + entryPassMs,
  },
  // The Janus node verifies the next three kinds, so `readToken` is not called for them.
  'janus-core': {
    ...janus,
    purpose: 'janus,janus.plugin.videoroom',
    lifetime: { with: 'the room token', probeMs: minute },
  },
  'janus-controller': {
    ...janus,
    purpose: 'janus,janus.plugin.videoroom,janus.plugin.streaming',
    lifetime: { ms: hour },
  },
  'janus-room': {
    ...janus,
    purpose: 'janus.plugin.videoroom',
    // `standingMs`: lifetime for cameras, relays and users of the room page, whose tokens are revoked when they leave.
    lifetime: { ...joinLifetime, minMs: 10_000, standingMs: 10 * 365 * day },
    revocation: 'remove the user, lock the room',
  },
  // No expiry: the ticket is useless after the session on the Janus node has ended.
  'media-ticket': {
    purpose: 'room media',
    lifetime: { with: 'the session on the Janus node' },
    audience: 'every controller, for one room and user',
    proof: 'sealed',
    revocation: 'end the session on the Janus node',
    end: endless,
  },
  // No expiry: the embedded node deletes the session from memory when the user leaves.
  'participant-session': {
    purpose: '',
    lifetime: { with: 'the stay in the room' },
    audience: 'one embedded node',
    proof: 'memory',
    revocation: 'remove the user from the room',
    end: endless,
  },
} as const satisfies Readonly<Record<string, TokenKindRow>>

export type TokenKind = keyof typeof tokenKinds
/** Kinds of tokens that are verified by a signature instead of a record. */
export type SignedKind = {
  [K in TokenKind]: (typeof tokenKinds)[K]['proof'] extends 'signed' ? K : never
}[TokenKind]
/** Fields of the claims or of the record from which the expiry is computed. */
export type TokenTimes<K extends TokenKind> = Parameters<(typeof tokenKinds)[K]['end']>[0]

const ends: { readonly [K in TokenKind]: { end: (times: TokenTimes<K>) => number } } = tokenKinds

/** Returns the expiry of a token in milliseconds since the epoch; Infinity: none. */
export function expiryOf<K extends TokenKind>(kind: K, times: TokenTimes<K>): number {
  return ends[kind].end(times)
}

/**
 * Whether a token has expired. A token without a readable expiry counts as expired. @param now milliseconds since the
 * epoch
 */
export function isExpired<K extends TokenKind>(kind: K, times: TokenTimes<K>, now: number): boolean {
  return !(expiryOf(kind, times) > now)
}

/** Time for which an entered password or console key authorizes sensitive calls of its session, in milliseconds. */
export const secretFreshMs = 10 * minute

/** Whether a password or key was entered recently enough. Setting the clock back does not extend the time. */
export function isSecretFresh(shownAt: number, now: number): boolean {
  return shownAt <= now && now - shownAt < secretFreshMs
}
