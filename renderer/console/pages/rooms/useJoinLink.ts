import { computed, onBeforeUnmount, ref, shallowRef, watch } from 'vue'
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
/** Delay after typing a name before a link is created, in milliseconds: each link stays valid. */
const typingMs = 1_000

/** A join link for the form's values. Each change creates a new link. */
export function useJoinLink(room: string) {
  const client = useConsole()
  const { t } = useText()
  const { ask, attempt, errorText } = useFeedback()
  const name = ref('')
  const role = ref<'member' | 'host'>('member')
  const life = ref<number>(0)
  const made = shallowRef<{ wish: string; link: ProcedureOutput<'media.join_link'> } | null>(null)
  const wish = computed(() => JSON.stringify([name.value.trim(), role.value, life.value]))
  /** The link for what the form says now; null: there is none yet. A host's link must not be given to a guest. */
  const link = computed(() => (made.value?.wish === wish.value ? made.value.link : null))
  const failure = ref('')
  let timer = 0
  let generation = 0

  async function make(): Promise<void> {
    const mine = ++generation
    const asked = wish.value
    failure.value = ''
    try {
      const answer = await client.call('media.join_link', {
        room_id: room,
        role: role.value,
        life_ms: life.value,
        ...(name.value.trim() === '' ? {} : { user_name: name.value.trim() }),
      })
      if (mine === generation) made.value = { wish: asked, link: answer }
    } catch (error) {
      if (mine !== generation) return
      // Without the password, a link for a day is created instead.
      if (life.value === 0 && error instanceof CallError && neededSecret(error.refusal) !== undefined) {
        life.value = linkLives[1].ms
        return
      }
      made.value = null
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
    made.value = null
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

  function makeIn(ms: number): void {
    clearTimeout(timer)
    timer = window.setTimeout(() => void make(), ms)
  }
  watch(
    () => name.value.trim(),
    () => makeIn(typingMs),
  )
  watch([role, life], () => makeIn(0), { immediate: true })
  onBeforeUnmount(() => clearTimeout(timer))

  return { name, role, life, link, failure, revokeAll, reach }
}
