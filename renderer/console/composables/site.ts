import { computed, type ComputedRef } from 'vue'
import { useReading } from '../live/useReading.ts'
import { sharedState } from './useConsole.ts'
import type { DeviceView } from '../../../shared/domain/devices.ts'
import type { Attention, OverviewView } from '../../../shared/console/site.ts'
import type { RelayedRoomView } from '../../../shared/console/relays.ts'
import type { ProcedureName } from '../../../shared/console/contract.ts'
import { procedureFacts } from '../../../shared/console/procedure-facts.ts'
import { atLeast, type Role } from '../../../shared/domain/roles.ts'
import { pageRole } from '../pages.ts'

/** All settings, as stored by the controller. */
export const useSettings = sharedState(() => useReading('settings.get'))

/** Every credential, without secrets. */
export const useCredentials = sharedState(() =>
  useReading('credentials.list', {}, { updates: { 'credentials.changed': (_before, { items }) => items } }),
)

/** Every operation of both APIs, as the controller lists them. */
export const useOperations = sharedState(() => useReading('tester.operations'))

/** Every MCU node with its state and load. */
export const useNodes = sharedState(() => {
  const nodes = useReading('nodes.list', {}, { updates: { 'nodes.changed': (_before, { items }) => items } })
  /** Names of the simulated nodes. The lab is available if there is at least one. */
  const simulated = computed(
    () => nodes.value.value?.filter((node) => node.config.kind === 'simulated').map((node) => node.config.name) ?? [],
  )
  return { ...nodes, simulated }
})

type Devices = ReadonlyMap<string, DeviceView>
const nothing: Devices = new Map()

/** Every device with its state, by userId, in the order of creation. */
export const useDevices = sharedState((client) => {
  const live = useReading<'devices.list', Devices>(
    'devices.list',
    {},
    {
      read: async () => new Map((await client.call('devices.list')).map((device) => [device.userId, device])),
      updates: {
        'devices.changed': (before, { items, removed }) => {
          const after = new Map(before)
          for (const userId of removed) after.delete(userId)
          for (const device of items) after.set(device.userId, device)
          return after
        },
      },
    },
  )
  const byId = computed(() => live.value.value ?? nothing)
  return { ...live, byId, all: computed(() => [...byId.value.values()]) }
})

/** The controllers of the site, and the storage of its state. */
export const useControllers = sharedState(() => {
  const live = useReading('controllers.list', {}, { updates: { 'controllers.changed': (_before, view) => view } })
  const items = computed(() => live.value.value?.items ?? [])
  return {
    ...live,
    items,
    /** Controller of this console. */
    self: computed(() => items.value.find(({ self }) => self)),
    leader: computed(() => items.value.find(({ role }) => role === 'leader')),
    /** Whether this console's controller is a read-only replica. */
    standby: computed(() => items.value.some(({ self, role }) => self && role === 'standby')),
    /** Database that stores the site's state; undefined: files. */
    database: computed(() => {
      const medium = live.value.value?.medium
      return medium?.kind === 'database' ? medium : undefined
    }),
  }
})

/** Number of samples from which the current request rate is computed. */
const latest = 2

/** State of the site, items that need attention, and the latest samples. */
export const useOverview = sharedState((client) => {
  const overview = useReading(
    'overview.get',
    {},
    {
      // Counts change with every room and user, so one update per second is enough.
      throttleMs: 1_000,
      updates: {
        'attention.changed': (before, { items }) =>
          // Only the full overview has the number of refusals.
          items.some(({ code }) => code === 'olderClientRefused' || code === 'accessTokenRefused')
            ? undefined
            : { ...before, attention: items },
      },
    },
  )
  const { value: samples } = useReading(
    'overview.samples',
    {},
    {
      read: async () => (await client.call('overview.samples')).slice(-latest),
      updates: {
        'overview.sampled': (before, sample) => [...before.filter(({ at }) => at < sample.at), sample].slice(-latest),
      },
    },
  )
  return { ...overview, samples: computed(() => samples.value ?? []) }
})

/** Items that need attention, most urgent first. */
export function useAttention(): ComputedRef<readonly Attention[]> {
  const { value } = useOverview()
  return computed(() => value.value?.attention ?? [])
}

export function listenerOf(overview: OverviewView, name: OverviewView['listeners'][number]['name']) {
  return overview.listeners.find((listener) => listener.name === name)
}

/**
 * Rooms that are on several nodes, and their relays, polled while the component is mounted.
 * @param roomId default: all rooms
 */
export function useRelayedRooms(roomId: () => string | undefined): ComputedRef<readonly RelayedRoomView[]> {
  const input = (): { room_id?: string } => {
    const room_id = roomId()
    return room_id === undefined ? {} : { room_id }
  }
  const { value } = useReading('relays.list', input, { everyMs: 2_000 })
  return computed(() => value.value ?? [])
}

/** Account of this console, and its rights. They only hide forbidden actions: the controller checks every call. */
export const useCaller = sharedState(() => {
  // An admin may change the account's name; a new role ends the session.
  const reading = useReading('account.me')
  const { value: caller } = reading
  const { standby } = useControllers()
  const role = computed<Role>(() => caller.value?.role ?? 'viewer')
  const is = (needed: Role): boolean => caller.value !== undefined && atLeast(role.value, needed)
  return {
    reading,
    /** The account; undefined: unknown. */
    caller,
    role,
    /**
     * Returns whether this caller may call a procedure; false until known. A replica forwards only reads and a change
     * of the leader.
     */
    may: (procedure: ProcedureName): boolean =>
      caller.value !== undefined &&
      atLeast(role.value, procedureFacts[procedure].role) &&
      (!standby.value || procedureFacts[procedure].passedOn),
    /** Returns whether this caller has a role or a higher one. */
    is,
    /** Returns whether this caller may open the page of a path. Links to other pages are hidden. */
    opens: (path: string): boolean => is(pageRole(path)),
  }
})

/**
 * Returns whether this caller may watch a stream unseen: cameras always; people for operators, or if the settings allow
 * it. The controller checks every call anyway.
 */
export function useMayWatch(): (isCamera: boolean) => boolean {
  const { is } = useCaller()
  const { value: settings } = useSettings()
  return (isCamera) => isCamera || is('operator') || settings.value?.console.viewers_watch === true
}
