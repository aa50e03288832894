import { computed, onScopeDispose, type Ref, ref, shallowRef, watch } from 'vue'
import { useRouter } from 'vue-router'
import type { SearchHit } from '../../../shared/console/search.ts'
import { searchWords } from '../../../shared/folded-text.ts'
import { useCaller } from '../composables/site.ts'
import { useConsole } from '../composables/useConsole.ts'
import { useFeedback } from '../composables/useFeedback.ts'
import { chooseOwnLook, darkTheme } from '../composables/usePreferences.ts'
import { type TextKey, useText } from '../i18n/text.ts'
import { leaveConsole } from '../leave.ts'
import { useEventSearch } from '../pages/events/useEventSearch.ts'
import { useEventText } from '../pages/events/useEventText.ts'
import { docEntries, matchingEntries, pageEntries, settingEntries } from './own-entries.ts'
import { type FindEntry, recentFinds } from './recent-finds.ts'

/** Results of one kind. */
export interface FindGroup {
  name: TextKey
  entries: FindEntry[]
  /** There are more results than these. */
  more: boolean
}

/** Time without a key press after which the controller is queried, in milliseconds. */
const restMs = 80
const perGroup = 6

/** Results for `text`: the controller's objects, and the console's own pages, settings and actions. */
export function useFind(text: Readonly<Ref<string>>) {
  const client = useConsole()
  const router = useRouter()
  const { t, language } = useText()
  const { may, opens } = useCaller()
  const { errorText } = useFeedback()
  const { sentence } = useEventText()
  const eventSearch = useEventSearch()
  const found = shallowRef<SearchHit>()
  const failure = ref('')
  const searching = ref(false)
  let timer: ReturnType<typeof setTimeout> | undefined
  /** Number of the newest search: answers to earlier ones are ignored. */
  let newest = 0

  async function search(): Promise<void> {
    const number = ++newest
    try {
      const event_words = eventSearch.wordsOf(text.value)
      const answer = await client.call('search.find', { text: text.value, event_words, limit: perGroup })
      if (number !== newest) return
      found.value = answer
      failure.value = ''
    } catch (error) {
      if (number !== newest) return
      failure.value = errorText(error)
    }
    searching.value = false
  }
  // The text may have been typed before this code was loaded.
  watch(text, searchLater, { immediate: true })
  function searchLater(): void {
    clearTimeout(timer)
    newest += 1
    searching.value = text.value.trim() !== ''
    if (searching.value) timer = setTimeout(() => void search(), restMs)
    else found.value = undefined
  }
  onScopeDispose(() => clearTimeout(timer))

  const actions = computed<FindEntry[]>(() => {
    const entry = (name: 'dark' | 'light' | 'signOut' | 'newRoom' | 'newDevice', to: string, act?: () => void) => ({
      key: `act ${name}`,
      title: t(`find.acts.${name}`),
      detail: '',
      to,
      ...(act && { act }),
    })
    const theme = darkTheme.value ? 'light' : 'dark'
    return [
      ...(may('rooms.create') ? [entry('newRoom', '/rooms?new=1')] : []),
      ...(may('devices.create') ? [entry('newDevice', '/devices?new=1')] : []),
      entry(theme, '', () => {
        // The theme is already applied; without a connection it is not stored.
        if (may('settings.set')) void client.call('settings.set', { console: { theme } }).catch(() => undefined)
        else void chooseOwnLook({ theme })
      }),
      ...(client.kind === 'websocket' ? [entry('signOut', '', () => void leaveConsole())] : []),
    ]
  })

  const groups = computed<FindGroup[]>(() => {
    if (text.value.trim() === '') {
      return shownGroups([
        { name: 'find.groups.recent', entries: recentFinds().filter(({ to }) => opens(to)), more: false },
        { name: 'find.groups.actions', entries: actions.value, more: false },
        { name: 'find.groups.pages', entries: pageEntries(t, opens), more: false },
      ])
    }
    const own = (name: TextKey, entries: readonly FindEntry[]): FindGroup => ({
      name,
      entries: matchingEntries(entries, text.value, perGroup),
      more: false,
    })
    return shownGroups([
      ...(found.value ? groupsOf(found.value) : []),
      own('find.groups.pages', pageEntries(t, opens)),
      own('find.groups.actions', actions.value),
      own('find.groups.settings', opens('/settings') ? settingEntries(t) : []),
      own('find.groups.help', docEntries(language.value)),
      eventGroup(found.value?.events),
    ])
  })

  /** Returns the group of matching recent events. Its last entry opens the page that searches the whole log. */
  function eventGroup(events: SearchHit['events'] = { items: [], more: false }): FindGroup {
    if (!opens('/events')) return { name: 'eventLog.title', entries: [], more: false }
    const to = `/events?${new URLSearchParams({ text: text.value }).toString()}`
    const shown = events.items.filter(eventSearch.shows(text.value))
    return {
      name: 'eventLog.title',
      more: events.more,
      entries: [
        ...shown.map((one) => ({ key: `event ${one.seq}`, title: sentence(one), detail: '', to })),
        { key: `events ${text.value}`, title: t('find.allEvents', { text: text.value.trim() }), detail: '', to },
      ],
    }
  }

  function groupsOf({ tags, rooms, people, cameras, nodes, credentials }: SearchHit): FindGroup[] {
    const at = (page: string, id: string): string => `/${page}/${encodeURIComponent(id)}`
    const entry = (kind: string, id: string, title: string, detail: string, to: string): FindEntry => ({
      key: `${kind} ${id}`,
      title: title || id,
      detail,
      to,
    })
    const tagged = (page: 'rooms' | 'devices', tag: string, n: number): FindEntry[] => {
      const to = `/${page}?${new URLSearchParams({ tag }).toString()}`
      return n === 0 ? [] : [entry(`tag ${page}`, tag, tag, t(`tags.found.${page}`, { n }), to)]
    }
    return [
      {
        name: 'find.groups.tags',
        more: tags.more,
        entries: tags.items.flatMap(({ tag, rooms: n, cameras }) => [
          ...tagged('rooms', tag, n),
          ...tagged('devices', tag, cameras),
        ]),
      },
      {
        name: 'rooms.title',
        more: rooms.more,
        entries: rooms.items.map(({ room_id, topic, owner_id, tags }) =>
          entry('room', room_id, topic, [room_id, owner_id, ...tags].join(' · '), at('rooms', room_id)),
        ),
      },
      {
        name: 'find.groups.people',
        more: people.more,
        entries: people.items.map(({ room_id, topic, user_id, user_name }) =>
          entry('person', `${room_id} ${user_id}`, user_name, `${user_id} · ${topic}`, at('rooms', room_id)),
        ),
      },
      {
        name: 'devices.title',
        more: cameras.more,
        entries: cameras.items.map(({ user_id, user_name, address, tags }) =>
          entry('camera', user_id, user_name, [user_id, address, ...tags].join(' · '), at('devices', user_id)),
        ),
      },
      {
        name: 'nodes.title',
        more: nodes.more,
        entries: nodes.items.map(({ name }) => entry('node', name, name, '', at('nodes', name))),
      },
      {
        name: 'nav.credentials',
        more: credentials.more,
        entries: (opens('/credentials') ? credentials.items : []).map(({ access_key, label }) =>
          entry('credential', access_key, label, access_key, at('credentials', access_key)),
        ),
      },
    ]
  }

  const words = computed(() => searchWords(text.value))
  return { words, groups, failure, searching, open: (to: string) => router.push(to) }
}

const shownGroups = (groups: FindGroup[]): FindGroup[] => groups.filter(({ entries }) => entries.length > 0)
