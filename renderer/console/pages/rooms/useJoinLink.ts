import { onBeforeUnmount, ref, watch } from 'vue'
import type { ProcedureOutput } from '../../../../shared/console/contract.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { CallError, neededSecret } from '../../../kit/transport/transport.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useText } from '../../i18n/text.ts'

const hourMs = 3_600_000
/** Validity periods of links, shortest first; 0: as long as the room exists. */
export const linkLives = [
  { key: 'hour', ms: hourMs },
  { key: 'day', ms: 24 * hourMs },
  { key: 'week', ms: 7 * 24 * hourMs },
  { key: 'month', ms: 30 * 24 * hourMs },
  { key: 'room', ms: 0 },
] as const
/** Delay after typing a name before a link is created, in milliseconds. */
const typingMs = 300

/** A join link for the form's values. Each change creates a new link. */
export function useJoinLink(room: string) {
  const client = useConsole()
  const { t } = useText()
  const { ask, attempt, errorText } = useFeedback()
  const name = ref('')
  const role = ref<'member' | 'host'>('member')
  const life = ref<number>(0)
  const link = ref<ProcedureOutput<'media.join_link'> | null>(null)
  const failure = ref('')
  let timer = 0
  let generation = 0

  async function make(): Promise<void> {
    const mine = ++generation
    failure.value = ''
    try {
      const made = await client.call('media.join_link', {
        room_id: room,
        role: role.value,
        life_ms: life.value,
        ...(name.value.trim() === '' ? {} : { user_name: name.value.trim() }),
      })
      if (mine === generation) link.value = made
    } catch (error) {
      if (mine !== generation) return
      // Without the password, a link for a day is created instead.
      if (life.value === 0 && error instanceof CallError && neededSecret(error.refusal) !== undefined) {
        life.value = linkLives[1].ms
        return
      }
      link.value = null
      failure.value = errorText(error)
    }
  }

  async function revokeAll(): Promise<void> {
    const yes = await ask({
      title: t('media.link.revokeTitle', { room }),
      body: t('media.link.revokeBody'),
      action: t('media.link.revokeAll'),
    })
    if (!yes) return
    link.value = null
    const done = await attempt(
      () => client.call('media.revoke_links', { room_id: room }),
      t('media.link.revoked', { room }),
    )
    // The displayed link was revoked as well.
    if (done) await make()
  }

  /** Chooses the shortest validity period that includes a moment, unless the chosen one already does. */
  function reach(moment: number): void {
    const needed = moment - Date.now()
    if (life.value !== 0 && life.value < needed) life.value = linkLives.find(({ ms }) => ms >= needed)?.ms ?? 0
  }

  watch(
    [name, role, life],
    () => {
      clearTimeout(timer)
      timer = window.setTimeout(() => void make(), link.value === null ? 0 : typingMs)
    },
    { immediate: true },
  )
  onBeforeUnmount(() => clearTimeout(timer))

  return { name, role, life, link, failure, revokeAll, reach }
}
