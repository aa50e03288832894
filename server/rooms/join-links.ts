import { createHmac, randomBytes, randomInt } from 'node:crypto'
import { issueToken, tokenDigest, unverifiedClaims } from '../../shared/files/signed-tokens.ts'
import { joinLink, roomPagePath } from '../../shared/media/room-page.ts'
import { codeAlphabet, codeLength, codeOfPath, groupedCode, shortLinkPath } from '../../shared/media/short-link.ts'
import { screenSuffix } from '../../shared/media/signal.ts'
import { refusal } from '../../shared/refusals/refusal.ts'
import { ApiError } from '../../shared/result-codes.ts'
import type { Settings } from '../../shared/settings.ts'
import { expiryOf, tokenKinds } from '../../shared/tokens.ts'
import type { Capabilities } from '../capabilities/capabilities.ts'
import { type Capability, type CapabilityDraft, isMadeBy, type ListedCapability } from '../capabilities/capability.ts'
import type { SiteNodes } from '../nodes/pool/site-nodes.ts'
import { joinKeyOf } from '../nodes/secrets/node-secrets.ts'
import { meetingsEnd } from '../schedule/meetings.ts'
import type { CapabilityMaker } from '../store/capability-record.ts'
import { endOfMaker } from '../store/capability-rules.ts'
import { sealedPlaceOf } from '../store/sealed-places.ts'
import type { Store } from '../store/store.ts'
import type { Rooms } from './room-lifecycle.ts'

export interface JoinLinksOptions {
  store: Pick<Store, 'get' | 'all' | 'seal' | 'unseal' | 'transact'>
  rooms: Pick<Rooms, 'get' | 'checkSite'>
  capabilities: Pick<Capabilities, 'prepare' | 'put' | 'list'>
  nodes: Pick<SiteNodes, 'address' | 'views'>
  settings: () => Settings
  /** Address of the room page if no embedded node is online, e.g. `10.0.0.5:7082`; empty: nothing serves the page. */
  pageAddress: () => string
  /** Addresses of the nodes of the site's other controllers; undefined: the site has one controller. */
  otherControllers?: () => readonly string[]
  /**
   * Address of the media API unless the settings contain another address, e.g. `http://10.0.0.5:7080`; empty: its port
   * is closed.
   */
  mediaUrl: () => string
}

/** User and room for which a link is made. */
export interface LinkRequest {
  roomId: string
  /** undefined: the holder of the link chooses a name. */
  userId?: string | undefined
  userName?: string | undefined
  role: 'member' | 'host'
  /**
   * Lifetime in milliseconds; 0: until the room is deleted; undefined: as in the settings, but at least until the last
   * meeting ends.
   */
  lifeMs?: number | undefined
  maker: CapabilityMaker
}

/** Link for a browser. */
export interface MadeLink {
  /** URL for programs, with a signed token in its fragment. For a link without expiry, it equals `short_url`. */
  url: string
  /** URL for users, short enough to be read aloud or shown as a QR code that can be scanned from a distance. */
  short_url: string
  /** Expiry in milliseconds since the epoch; 0: the link ends with its room. */
  expires_at: number
}

type JoinCapability = Extract<ListedCapability, { kind: 'join' }>
type JoinDraft = Extract<CapabilityDraft, { kind: 'join' }>

/** Token for an invisible viewer. */
export interface ObserverToken {
  token: string
  /** Expiry in milliseconds since the epoch. */
  expires_at: number
}

/** Maximum number of origins in the content security policy header of the page. */
const maxPageOrigins = 200

/**
 * Creates join links, signed with a key that the embedded nodes use to verify them. Also returns the addresses of the
 * room page and of a room's node.
 */
export class JoinLinks {
  readonly #options: JoinLinksOptions

  constructor(options: JoinLinksOptions) {
    this.#options = options
  }

  /**
   * Creates a link. @throws ApiError roomNotFound, roomClosed, parameter, noNode (no embedded node), internal, storage
   */
  async make({ roomId, userId, userName, role, lifeMs, maker }: LinkRequest): Promise<MadeLink> {
    const { rooms, store, capabilities } = this.#options
    const room = rooms.get(roomId)
    if (room.closed) throw new ApiError('roomClosed')
    if (userId?.endsWith(screenSuffix)) {
      throw new ApiError('parameter', {
        field: 'user_id',
        refusal: refusal('linkForScreen', { suffix: screenSuffix }),
      })
    }
    if (userId !== undefined && store.get('devices', userId)?.roomId === roomId) {
      throw new ApiError('parameter', { field: 'user_id', refusal: refusal('linkForDevice') })
    }
    const now = Date.now()
    const life = lifeMs ?? this.defaultLifeMs(roomId)
    // Nodes admit holders of a valid signature, so the signature must not be valid longer than the stored link.
    const end = Math.min(
      ...(life === 0 ? [] : [now + life]),
      // The removal of a person is kept for the same time, and invalidates the person's link.
      ...(userId === undefined ? [] : [now + tokenKinds.join.lifetime.maxMs]),
      endOfMaker(store, maker),
    )
    const expires_at = end === Number.POSITIVE_INFINITY ? 0 : end
    const link = newLinkId()
    const draft: JoinDraft = { kind: 'join', link, standing: role, room_id: roomId, user_id: userId ?? '', expires_at }
    if (userName !== undefined && userName !== '') draft.name = userName
    const key = this.#key()
    const known = expires_at === 0 ? this.#knownCode(draft, maker) : undefined
    if (known !== undefined) return this.#endless(known)
    const code = newCode()
    const { id, token, record } = capabilities.prepare(draft, maker, tokenOfCode(key, code))
    const kept = { ...record, code_sealed: store.seal(code, sealedPlaceOf('capabilities', id)) }
    await store.transact(['capabilities'], (transaction) => {
      capabilities.put(transaction, { id, token, record: expires_at === 0 ? kept : record })
    })
    if (expires_at === 0) return this.#endless(code)
    const claims = { id: link, room: roomId, user: userId, name: draft.name, role, iat: now, exp: expires_at }
    const url = joinLink(`${this.#base()}/jroom/`, roomId, issueToken('join-token', key, claims))
    return { url, short_url: this.#shortUrl(code), expires_at }
  }

  /**
   * Returns the code of an equivalent link without expiry that the same maker created earlier, so that all recipients
   * receive the same link; undefined: none.
   */
  #knownCode(draft: JoinDraft, maker: CapabilityMaker): string | undefined {
    const { store, capabilities } = this.#options
    const isSame = (each: ListedCapability): boolean =>
      each.kind === 'join' &&
      each.expires_at === 0 &&
      each.standing === draft.standing &&
      each.user_id === draft.user_id &&
      each.name === draft.name &&
      isMadeBy(each.maker, maker) &&
      isMadeBy(maker, each.maker)
    const known = capabilities.list({ roomId: draft.room_id }).find(isSame)
    if (known?.kind !== 'join' || known.code_sealed === undefined) return undefined
    return store.unseal(known.code_sealed, sealedPlaceOf('capabilities', known.id))
  }

  #endless(code: string): MadeLink {
    const url = this.#shortUrl(code)
    return { url, short_url: url, expires_at: 0 }
  }

  #shortUrl(code: string): string {
    return `${this.#base()}${shortLinkPath}${groupedCode(code)}`
  }

  /** Returns the token of the capability that a short link opens; empty: the site has no key for links. */
  tokenOf(code: string): string {
    const { store } = this.#options
    const key = joinKeyOf(store)
    return key === undefined ? '' : tokenOfCode(Buffer.from(key, 'base64'), code)
  }

  /**
   * Returns the address of the room page for the holder of a short link, with a signed token. The token's issue time is
   * the creation time of the link, so a person removed after that time is not admitted.
   * @throws ApiError as `page`
   */
  enter(
    { room_id: room, link: id, standing: role, user_id, name, created_at: iat, expires_at }: Capability<'join'>,
    code: string,
  ): string {
    const exp = Math.min(expiryOf('join', { expires_at }), Date.now() + tokenKinds['join-token'].lifetime.pageMs)
    const user = user_id === '' ? undefined : user_id
    const claims = { id, room, user, name, url: this.#shortUrl(code), role, iat, exp }
    return this.page(joinLink('', room, issueToken('join-token', this.#key(), claims)))
  }

  /** Returns a valid link by its id; undefined: the link has ended, or an earlier version created it. */
  byId(roomId: string, link: string): Pick<JoinCapability, 'maker' | 'expires_at'> | undefined {
    const ofRoom = this.#options.capabilities.list({ roomId })
    return ofRoom.find((listed): listed is JoinCapability => listed.kind === 'join' && listed.link === link)
  }

  /**
   * Returns the default lifetime of a link to a room, in milliseconds: as in the settings, but at least until the last
   * meeting ends.
   */
  defaultLifeMs(roomId: string): number {
    const { store, settings } = this.#options
    const now = Date.now()
    return Math.max(settings().media.link_life_ms, meetingsEnd(store.get('rooms', roomId)?.schedule) - now)
  }

  /**
   * Returns the id of the link to revoke, or an empty text for all links of the room.
   * @throws ApiError roomNotFound; parameter if the URL is not a link to this room
   */
  revocation(roomId: string, url: string | undefined): string {
    this.#options.rooms.get(roomId)
    if (url === undefined) return ''
    const { store } = this.#options
    const code = codeOfPath(URL.parse(url)?.pathname ?? '')
    const record = code === undefined ? undefined : store.get('capabilities', tokenDigest(this.tokenOf(code)))
    if (record?.kind === 'join' && record.room_id === roomId) return record.link
    const token = URL.parse(url)?.hash.replace(/^#token=/, '') ?? ''
    const claims = unverifiedClaims('join-token', decodeURIComponent(token))
    if (claims?.room === roomId) return claims.id
    throw new ApiError('parameter', { field: 'url', refusal: refusal('notJoinLink') })
  }

  /**
   * Creates a token for the operator's preview of a room. A preview receives streams without being a participant.
   * @throws ApiError roomNotFound, noNode, internal
   */
  observer(roomId: string): ObserverToken {
    this.#options.rooms.get(roomId)
    const iat = Date.now()
    // The token only has to be valid when the preview starts; a running preview continues after its expiry.
    const exp = iat + tokenKinds['join-token'].lifetime.previewMs
    const claims = { id: newLinkId(), room: roomId, role: 'observer', iat, exp } as const
    return { token: issueToken('join-token', this.#key(), claims), expires_at: exp }
  }

  /**
   * Returns the URL of the room page on an embedded node, e.g. `http://10.0.0.5:7082/room/?roomId=123456789`. The URL
   * does not depend on whether the room exists. The page redirects a visitor who is admitted to the node of the room.
   * @param query added unchanged, e.g. `?roomId=123456789&lang=zh`
   * @throws ApiError licenceExpired, licenceExceeded, noNode (nothing serves the page)
   */
  page(query: string): string {
    this.#options.rooms.checkSite()
    return `${this.#pageUrl()}${roomPagePath}${query}`
  }

  /**
   * Returns the base URL of the room page. Also works on a site without an embedded node, and for rooms on Janus nodes.
   * @throws ApiError noNode
   */
  #pageUrl(): string {
    const { nodes, settings, pageAddress } = this.#options
    const node = nodes.views().find(({ config, state }) => config.kind === 'embedded' && state === 'online')
    if (node !== undefined) return this.#urlOf(node.config.name)
    const address = pageAddress()
    if (address === '') throw new ApiError('noNode')
    return `${settings().tls.mode === 'off' ? 'http' : 'https'}://${address}`
  }

  /** Returns the addresses of all other enabled embedded nodes, including the known nodes of other controllers. */
  nodesBeside(name: string): string[] {
    const { nodes, otherControllers } = this.#options
    const here = nodes
      .views()
      .filter(({ config }) => config.kind === 'embedded' && config.enabled && config.name !== name)
      .flatMap(({ config }) => this.#knownUrl(config.name))
    return [...new Set([...here, ...(otherControllers?.() ?? [])])]
  }

  /**
   * Returns the origins to which the room page may connect: all addresses of all embedded nodes, including disabled
   * ones, and the node ports of the other controllers.
   */
  pageOrigins(): string[] {
    const { nodes, settings, pageAddress, otherControllers } = this.#options
    const scheme = settings().tls.mode === 'off' ? 'http' : 'https'
    const embedded = nodes.views().filter(({ config }) => config.kind === 'embedded')
    const here = embedded.flatMap(({ config }) => config.addresses.map(({ addr }) => `${scheme}://${addr}`))
    const byDefault = embedded.flatMap(({ config }) => this.#knownUrl(config.name))
    const page = pageAddress() === '' ? [] : [`${scheme}://${pageAddress()}`]
    return [...new Set([...byDefault, ...page, ...(otherControllers?.() ?? []), ...here])].slice(0, maxPageOrigins)
  }

  #knownUrl(node: string): string[] {
    try {
      return [this.#urlOf(node)]
    } catch {
      // The node has no address for clients.
      return []
    }
  }

  /**
   * Returns the client address of the room's node. For a room on a Janus node, returns the address of the page, through
   * which its streams are served.
   * @throws ApiError roomNotFound, nodeOffline (the node has no address), noNode (the node serves no page and no
   * streams)
   */
  nodeUrl(roomId: string): string {
    const { rooms, store } = this.#options
    const { node } = rooms.get(roomId)
    if (store.get('nodes', node)?.kind === 'janus') return this.#pageUrl()
    const url = this.#urlOf(node)
    if (store.get('nodes', node)?.kind !== 'embedded') {
      throw new ApiError('noNode', { refusal: refusal('roomShowsNothing') })
    }
    return url
  }

  /** Returns the base URL of a node for clients. @throws ApiError nodeOffline, noNode */
  #urlOf(node: string): string {
    const { nodes, settings } = this.#options
    return `${settings().tls.mode === 'off' ? 'http' : 'https'}://${nodes.address(node)}`
  }

  #base(): string {
    const base = this.#options.settings().media.public_url || this.#options.mediaUrl()
    if (base === '') throw new ApiError('internal', { refusal: refusal('mediaApiOff') })
    return base
  }

  #key(): Buffer {
    const { store } = this.#options
    const key = joinKeyOf(store)
    if (key === undefined) {
      throw new ApiError('noNode', {
        refusal: refusal('roomPageMissing'),
      })
    }
    return Buffer.from(key, 'base64')
  }
}

/** Generates the id of a link. It is random, because the link is revoked by this id. */
function newLinkId(): string {
  return randomBytes(9).toString('base64url')
}

/** Generates the code of a short link. The code is random, because it gives access to a room. */
export function newCode(): string {
  return Array.from({ length: codeLength }, () => codeAlphabet.charAt(randomInt(codeAlphabet.length))).join('')
}

/**
 * Returns the token of the capability for a code. A code is so short that it could be found from a plain hash by trying
 * all codes. The keyed hash prevents this if only the database is stolen.
 * @param key signing key of the site's join links
 */
export function tokenOfCode(key: Buffer, code: string): string {
  return createHmac('sha256', key).update(`short link ${code}`, 'latin1').digest('base64url')
}
