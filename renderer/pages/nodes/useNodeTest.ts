import { shallowRef } from 'vue'
import type { NodeTest } from '../../../shared/console/nodes.ts'
import type { NodeInput } from '../../../shared/node.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useFormat } from '../../composables/useFormat.ts'
import { useText } from '../../i18n/text.ts'
import { nodeSentence } from './nodeSentences.ts'

/** What a test said, in words. */
export interface TestedNode {
  tone: 'ok' | 'warn' | 'bad'
  text: string
  findings: NodeTest['findings']
}

/** Tries a node's configuration. One test at a time; what an older one finds is not told. */
export function useNodeTest() {
  const client = useConsole()
  const { t } = useText()
  const { latency } = useFormat()
  const { errorText } = useFeedback()
  const tested = shallowRef<TestedNode>()
  const testing = shallowRef(false)
  let newest = 0

  async function test(config: NodeInput): Promise<void> {
    newest += 1
    const mine = newest
    testing.value = true
    tested.value = undefined
    const found = await client.call('nodes.test', config).then(inWords, (error: unknown) => ({
      tone: 'bad' as const,
      text: nodeSentence(errorText(error), t),
      findings: [],
    }))
    if (mine !== newest) return
    tested.value = found
    testing.value = false
  }

  /** What was tested is no longer what it is about. */
  function forget(): void {
    newest += 1
    testing.value = false
    tested.value = undefined
  }

  function inWords({ ok, message, milliseconds, version, plugins, findings }: NodeTest): TestedNode {
    const time = t('nodes.forms.testOk', { time: latency(milliseconds) })
    const unsafe = findings.some(({ severity }) => severity === 'unsafe')
    const server = version === '' ? '' : t('nodes.janus.server', { version, plugins: plugins.join(', ') })
    if (!ok && findings.length > 0)
      return { tone: 'bad', text: [t('nodes.janus.unusable'), server].join(' ').trim(), findings }
    if (!ok) return { tone: 'bad', text: nodeSentence(message, t), findings }
    if (version === '') return { tone: 'ok', text: `${time} ${nodeSentence(message, t)}`, findings }
    const verdict = unsafe ? 'nodes.janus.unsafe' : findings.length > 0 ? 'nodes.janus.usable' : 'nodes.janus.good'
    return { tone: unsafe ? 'warn' : 'ok', text: `${time} ${server} ${t(verdict)}`, findings }
  }

  return { test, forget, testing, tested }
}
