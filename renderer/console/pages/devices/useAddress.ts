import { onScopeDispose, ref, type Ref, shallowRef, watch } from 'vue'
import type { ProcedureOutput } from '../../../../shared/console/contract.ts'
import { useConsole } from '../../composables/useConsole.ts'
import { CallError } from '../../../kit/transport/transport.ts'
import { useText } from '../../i18n/text.ts'
import { problemText } from '../../composables/useFeedback.ts'

/** An address parsed by the controller, with the parser that it uses for storing addresses. */
export type ParsedAddress = ProcedureOutput<'devices.parse_address'>

/** Delay between the last key press and parsing, in milliseconds. */
const pause = 250

/** Parses an address while it is typed. */
export function useAddress(text: Ref<string>) {
  const client = useConsole()
  const { t } = useText()
  /** Parts of the current text; null while invalid or unknown. */
  const parsed = shallowRef<ParsedAddress | null>(null)
  /** Problem of the current text. */
  const problem = ref('')
  let timer = 0
  let generation = 0

  /** Parses the text now. Resolves to its parts, or null if invalid; a failed connection rejects. */
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
        const [wrong] = error.problems
        problem.value = wrong === undefined ? error.message : problemText(wrong, t)
      }
      return null
    }
  }

  watch(text, () => {
    generation++
    clearTimeout(timer)
    // Removes the old text's problem; the new text is parsed soon.
    problem.value = ''
    if (text.value.trim() === '') parsed.value = null
    // A lost connection shows no problem here; the next step parses again.
    else timer = window.setTimeout(() => void parse().catch(() => undefined), pause)
  })
  onScopeDispose(() => clearTimeout(timer))

  return { parsed, problem, parse }
}
