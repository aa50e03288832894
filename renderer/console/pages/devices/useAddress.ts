import { onScopeDispose, ref, shallowRef, watch } from 'vue'
import type { Ref } from 'vue'
import type { ProcedureOutput } from '../../../../shared/console/contract.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { CallError } from '../../../kit/transport/transport.ts'
import { useText } from '../../i18n/text.ts'
import { deviceSentence } from './deviceSentences.ts'

/** An address taken apart by the controller, with the very parser that it uses to store it. */
export type ParsedAddress = ProcedureOutput<'devices.parse_address'>

/** Milliseconds without a key before what was typed is taken apart. */
const pause = 250

/** Takes an address apart while it is written. */
export function useAddress(text: Ref<string>) {
  const client = useConsole()
  const { t } = useText()
  /** Parts of the text as it stands; null while it is no address, or not known yet. */
  const parsed = shallowRef<ParsedAddress | null>(null)
  /** Fault of the text as it stands. */
  const problem = ref('')
  let timer = 0
  let generation = 0

  /** Takes the text apart now. Resolves to its parts, or null when it is no address; a failed connection rejects. */
  async function parse(): Promise<ParsedAddress | null> {
    clearTimeout(timer)
    const mine = ++generation
    const address = text.value
    try {
      const parts = await client.call('devices.parse_address', { address })
      if (mine === generation) {
        parsed.value = parts
        problem.value = ''
      }
      return parts
    } catch (error) {
      if (!(error instanceof CallError) || error.problems.length === 0) throw error
      if (mine === generation) {
        parsed.value = null
        problem.value = deviceSentence(error.message, t)
      }
      return null
    }
  }

  watch(text, () => {
    generation++
    clearTimeout(timer)
    // Taken apart again soon; what the old text said is not shown for the new one.
    problem.value = ''
    if (text.value.trim() === '') parsed.value = null
    // While the connection is lost there is nothing to show; going on asks again.
    else timer = window.setTimeout(() => void parse().catch(() => undefined), pause)
  })
  onScopeDispose(() => clearTimeout(timer))

  return { parsed, problem, parse }
}
