import { computed, ref, watch } from 'vue'
import type { NodeProposal } from '../../../../shared/console/nodes.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useNodes } from '../../composables/site.ts'
import { useText } from '../../i18n/text.ts'
import { browserStorage } from '../../../kit/storage.ts'

/** Storage key of the number of nodes in the dismissed proposal. */
const declined = 'roomdesk.nodes.declined'

/** The recommended number of embedded nodes on this machine, and a function that adds them. */
export function useNodeProposal() {
  const client = useConsole()
  const { t } = useText()
  const { ask, attempt, tell } = useFeedback()
  const { value: nodes } = useNodes()
  const proposal = ref<NodeProposal | null>(null)
  const unwanted = ref(Number(browserStorage.get(declined) ?? 0))
  const busy = ref(false)
  /** Names of nodes added here that are not all online yet. */
  const adding = ref<readonly string[]>([])

  const online = computed(
    () =>
      nodes.value?.filter(({ config, state }) => adding.value.includes(config.name) && state === 'online').length ?? 0,
  )
  /** The proposal; null: none. */
  const offer = computed(() => {
    const now = proposal.value
    if (now === null || now.missing.length === 0 || now.most === unwanted.value || adding.value.length > 0) return null
    return now
  })

  async function refresh(): Promise<void> {
    // Without an answer nothing is proposed; the list of nodes shows the problem.
    proposal.value = await client.call('nodes.proposal').catch(() => null)
  }

  async function addMissing(): Promise<void> {
    const missing = proposal.value?.missing ?? []
    const n = missing.length
    const ports = missing.flatMap(({ port }) => (port === 0 ? [] : [port]))
    const yes = await ask({
      title: t('nodes.proposal.askTitle', { n }),
      body: [
        t('nodes.proposal.askBody'),
        ...(ports.length === 0 ? [] : [t('nodes.proposal.askPorts', { ports: ports.join(', ') })]),
      ].join(' '),
      action: t('nodes.proposal.add', { n }),
      harmless: true,
    })
    if (!yes) return
    busy.value = true
    const added = await attempt(() => client.call('nodes.add_embedded', { count: n }))
    busy.value = false
    adding.value = added?.map(({ config }) => config.name) ?? []
  }

  function decline(): void {
    unwanted.value = proposal.value?.most ?? 0
    browserStorage.set(declined, String(unwanted.value))
  }

  /** A change of these changes the proposal: names and ports may be free or used. */
  const embedded = computed(() =>
    nodes.value?.flatMap(({ config }) => (config.kind === 'embedded' ? [`${config.name} ${config.port}`] : [])).join(),
  )
  watch(embedded, (now) => now !== undefined && void refresh(), { immediate: true })
  watch(online, (now) => {
    const n = adding.value.length
    if (n === 0 || now < n) return
    adding.value = []
    tell(t('nodes.proposal.done', { n }))
  })

  return { proposal, offer, busy, adding, online, refresh, addMissing, decline }
}
