import { shallowRef } from 'vue'
import type { NodeTest } from '../../../../shared/console/nodes.ts'
import type { NodeInput } from '../../../../shared/node.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { useFeedback } from '../../composables/useFeedback.ts'
import { useFormat } from '../../composables/useFormat.ts'
import { useText } from '../../i18n/text.ts'
import { nodeSentence } from './nodeSentences.ts'

/** Result of a test, as text. */
interface TestedNode {
  tone: 'ok' | 'warn' | 'bad'
  text: string
  findings: NodeTest['findings']
}

/** Tests a node's configuration, one test at a time. Results of earlier tests are ignored. */
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
    const found = await client
      .call('nodes.test', config)
      .then(inWords, (error: unknown): TestedNode => ({ tone: 'bad', text: errorText(error), findings: [] }))
    if (mine !== newest) return
    tested.value = found
    testing.value = false
  }

  /** Discards the result after a change of the configuration. */
  function forget(): void {
    newest += 1
    testing.value = false
    tested.value = undefined
  }

  function inWords({ ok, message, milliseconds, findings, version }: NodeTest): TestedNode {
    if (!ok) {
      const text = findings.length > 0 ? t('nodes.janus.unusable') : nodeSentence(message, t)
      return { tone: 'bad', text, findings }
    }
    const time = t('nodes.forms.testOk', { time: latency(milliseconds) })
    if (version === '') return { tone: 'ok', text: `${time} ${nodeSentence(message, t)}`, findings }
    const unsafe = findings.some(({ severity }) => severity === 'unsafe')
    const verdict = unsafe ? 'nodes.janus.unsafe' : findings.length > 0 ? 'nodes.janus.usable' : 'nodes.janus.good'
    return { tone: unsafe ? 'warn' : 'ok', text: `${time} ${t(verdict, { version })}`, findings }
  }

  return { test, forget, testing, tested }
}
