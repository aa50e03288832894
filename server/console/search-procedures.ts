import type { ProcedureName } from '../../shared/console/contract.ts'
import type { SearchHit, SearchKind } from '../../shared/console/search.ts'
import { shownName } from '../../shared/control-character.ts'
import { atLeast } from '../../shared/domain/roles.ts'
import { foldedText, searchWords } from '../../shared/folded-text.ts'
import type { OutgoingUsers } from '../devices/outgoing-users.ts'
import type { NodePool } from '../nodes/pool/node-pool.ts'
import { shownAddress } from '../observe/redaction/address.ts'
import type { RoomViews } from '../rooms/room-views.ts'
import type { SiteTags } from '../rooms/tags.ts'
import type { Store } from '../store/store.ts'
import { refuseCaller, roleOfSight } from './caller-permissions.ts'
import type { CallOrigin, ProcedureHandlers, ProceduresOf } from './handlers.ts'
import { personOfKey, type RecentEvents, searchedTexts, type SiteSearch } from './search/site-search.ts'

export interface SearchDependencies {
  store: Pick<Store, 'get'>
  search: SiteSearch
  tags: SiteTags
  events: RecentEvents
  roomViews: RoomViews
  pool: Pick<NodePool, 'presence' | 'nodes'>
  outgoing: Pick<OutgoingUsers, 'view'>
}

/**
 * Procedure that lists objects of each kind. Callers without access to this procedure do not find objects of the kind.
 */
const listedBy: Readonly<Record<Exclude<SearchKind, 'tags'>, ProcedureName>> = {
  rooms: 'rooms.list',
  people: 'rooms.get',
  cameras: 'devices.list',
  nodes: 'nodes.list',
  credentials: 'credentials.list',
  events: 'events.list',
}

const none = (): { items: never[]; more: boolean } => ({ items: [], more: false })

/** Search over all objects of a site. */
export function searchHandlers(dependencies: SearchDependencies): ProcedureHandlers<ProceduresOf<'search'>> {
  return {
    'search.find': async ({ text, event_words: words, kinds, limit }, origin) => {
      const { search, events, tags } = dependencies
      await Promise.all([search.ready(), tags.ready()])
      const searched = searchWords(text).length > 0
      const lists = (kind: keyof typeof listedBy): boolean => refuseCaller(listedBy[kind], origin) === undefined
      const asked = (kind: SearchKind): boolean => searched && (kinds.length === 0 || kinds.includes(kind))
      const wanted = (kind: keyof typeof listedBy): boolean => asked(kind) && lists(kind)
      return {
        tags: asked('tags') ? foundTags(tags, text, limit, lists) : none(),
        rooms: wanted('rooms') ? foundRooms(dependencies, text, limit) : none(),
        people: wanted('people') ? foundPeople(dependencies, text, limit) : none(),
        cameras: wanted('cameras') ? foundCameras(dependencies, text, limit, origin) : none(),
        nodes: wanted('nodes') ? foundNodes(dependencies, text, limit) : none(),
        credentials: wanted('credentials') ? foundCredentials(dependencies, text, limit) : none(),
        events: wanted('events') ? await events.find({ text, words }, limit) : none(),
      }
    },
  }
}

function foundTags(
  tags: SiteTags,
  text: string,
  limit: number,
  lists: (kind: 'rooms' | 'cameras') => boolean,
): SearchHit['tags'] {
  const [seesRooms, seesCameras] = [lists('rooms'), lists('cameras')]
  const all = tags
    .find(text)
    .map(({ tag, rooms, devices }) => ({ tag, rooms: seesRooms ? rooms : 0, cameras: seesCameras ? devices : 0 }))
    .filter(({ rooms, cameras }) => rooms + cameras > 0)
  return { items: all.slice(0, limit), more: all.length > limit }
}

function foundRooms({ store, search, roomViews }: SearchDependencies, text: string, limit: number): SearchHit['rooms'] {
  const { keys, more } = search.find('rooms', text, limit)
  const items = keys.flatMap((key) => {
    const room = store.get('rooms', key)
    if (room === undefined) return []
    const { room_id, topic, owner_id, status, users, tags } = roomViews.view(room)
    return [{ room_id, topic, owner_id, status, users, tags }]
  })
  return { items, more }
}

function foundPeople({ store, search, pool }: SearchDependencies, text: string, limit: number): SearchHit['people'] {
  const { keys, more } = search.find('people', text, limit)
  const items = keys.flatMap((key) => {
    const { roomId, userId } = personOfKey(key)
    const user = pool.presence.user(roomId, userId)
    const topic = shownName(store.get('rooms', roomId)?.topic ?? '')
    return user === undefined ? [] : [{ room_id: roomId, topic, user_id: userId, user_name: shownName(user.userName) }]
  })
  return { items, more }
}

function foundCameras(
  { store, search, outgoing }: SearchDependencies,
  text: string,
  limit: number,
  origin: CallOrigin,
): SearchHit['cameras'] {
  const words = searchWords(text)
  /** Viewers find a camera only by the texts that viewers can see. */
  const visible = (key: string): boolean => {
    const device = store.get('devices', key)
    if (device === undefined) return false
    const shown = searchedTexts.cameraForViewers(device).map(foldedText).join('\n')
    return words.every((word) => shown.includes(word))
  }
  const { keys, more } = search.find(
    'cameras',
    text,
    limit,
    atLeast(roleOfSight(origin), 'operator') ? undefined : visible,
  )
  const items = keys.flatMap((key) => {
    const view = outgoing.view(key)
    if (view === undefined) return []
    const { userId, userName, userAddress, roomId, state, tags } = view
    return [{ user_id: userId, user_name: userName, address: shownAddress(userAddress), room_id: roomId, state, tags }]
  })
  return { items, more }
}

function foundNodes({ search, pool }: SearchDependencies, text: string, limit: number): SearchHit['nodes'] {
  const { keys, more } = search.find('nodes', text, limit)
  if (keys.length === 0) return none()
  const views = new Map(pool.nodes.views().map((view) => [view.config.name, view]))
  const items = keys.flatMap((key) => {
    const view = views.get(key)
    return view === undefined ? [] : [{ name: key, kind: view.config.kind, state: view.state }]
  })
  return { items, more }
}

function foundCredentials(
  { store, search }: SearchDependencies,
  text: string,
  limit: number,
): SearchHit['credentials'] {
  const { keys, more } = search.find('credentials', text, limit)
  const items = keys.flatMap((key) => {
    const credential = store.get('credentials', key)
    if (credential === undefined) return []
    const { access_key, label, enabled } = credential
    return [{ access_key, label, enabled }]
  })
  return { items, more }
}
