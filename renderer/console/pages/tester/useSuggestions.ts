import { shallowReactive } from 'vue'
import { useConsole } from '../../composables/useConsole.ts'
import { useDevices } from '../../composables/site.ts'

/** Possible values of a field, with display names. */
export interface Suggestion {
  value: string
  label: string
}

/** Maximum number of suggestions: typing narrows the list. */
const most = 30

/**
 * Suggests values of the site for the parameters of an operation: its rooms, the users of the entered room, its
 * devices.
 */
export function useSuggestions(values: () => Readonly<Record<string, string>>) {
  const client = useConsole()
  const { all: devices } = useDevices()
  const found = shallowReactive<Record<string, readonly Suggestion[]>>({})

  const rooms = async (typed: string): Promise<Suggestion[]> => {
    const { items } = await client.call('rooms.list', { search: typed.trim().slice(0, 200), limit: most })
    return items.map(({ room_id, topic }) => ({ value: room_id, label: topic }))
  }
  const people = async (): Promise<Suggestion[]> => {
    const { room_id = '' } = values()
    if (room_id === '') return []
    const { users } = await client.call('rooms.get', { room_id })
    return users.map(({ user_id, user_name }) => ({ value: user_id, label: user_name }))
  }
  const cameras = async (): Promise<Suggestion[]> =>
    devices.value.map(({ userId, userName }) => ({ value: userId, label: userName }))
  const addresses = async (): Promise<Suggestion[]> =>
    devices.value.map(({ userAddress, userName }) => ({ value: userAddress, label: userName }))
  const sources: Readonly<Record<string, (typed: string) => Promise<Suggestion[]>>> = {
    room_id: rooms,
    roomId: rooms,
    user_id: people,
    userId: cameras,
    userAddress: addresses,
  }

  /** Returns whether a parameter has suggestions. */
  const isKnown = (parameter: string): boolean => Object.hasOwn(sources, parameter)

  /** Searches for matching values. Without results there is no list. */
  async function look(parameter: string): Promise<void> {
    const source = sources[parameter]
    if (source === undefined) return
    const typed = values()[parameter] ?? ''
    try {
      const fits = await source(typed)
      found[parameter] = fits.filter(({ value }) => value !== typed).slice(0, most)
    } catch {
      found[parameter] = []
    }
  }

  return { found, isKnown, look }
}
