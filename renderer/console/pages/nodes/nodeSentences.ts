import { storedSentence } from '../../composables/storedSentence.ts'
import type { TextKey, Translate } from '../../i18n/text.ts'
import { reasonText } from './findingText.ts'

/** Keys of the controller's sentences about a node, by pattern, with the names of the captured groups. */
const known: readonly (readonly [pattern: RegExp, key: TextKey, ...quoted: string[]])[] = [
  [/^The node did not answer within ([\d.]+) s\.$/, 'nodes.sentences.silent', 'seconds'],
  [/there is no driver for nodes of kind (\w+) here/, 'nodes.sentences.noDriver', 'kind'],
  [/the node port is closed/, 'nodes.sentences.portClosed'],
  [/the node was taken out of service/, 'nodes.sentences.outOfService'],
  [/^The connection to the node failed: (?:it does not run|it was stopped)\.$/, 'nodes.sentences.notRunning'],
  [/^The connection to the node failed: (.+?)\.$/, 'nodes.sentences.connection', 'reason'],
  [/^The node refused: (.+?)\.$/, 'nodes.sentences.refused', 'reason'],
  [/^The node failed in an unexpected way/, 'nodes.sentences.unexpected'],
  [/^The node answers: (\d+) rooms, (\d+) users\.$/, 'nodes.sentences.answers', 'rooms', 'users'],
]

/** Translates a controller's sentence about a node; an unknown sentence is returned unchanged. */
export function nodeSentence(message: string, t: Translate): string {
  const port = /^The connection to the node failed: (Port \d+ on .+\.)$/.exec(message)?.[1]
  if (port !== undefined) return storedSentence(port, t)
  for (const [pattern, key, ...quoted] of known) {
    const found = pattern.exec(message)
    if (found === null) continue
    const values = quoted.map((name, index) => [name, reasonText(found[index + 1] ?? '', t)])
    return t(key, Object.fromEntries(values) as Record<string, string>)
  }
  return message
}
