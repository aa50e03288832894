import { onScopeDispose } from 'vue'
import { isDialogOpen, typingOrDialogOpen } from '../layers/layers.ts'

/** A keyboard shortcut. */
export interface Shortcut {
  /**
   * Values of `KeyboardEvent.key`, letters in lower case. `Ctrl+` before one is Ctrl or ⌘; two with a space between
   * them are pressed one after the other.
   */
  keys: readonly string[]
  /** Further keys, which a list of shortcuts leaves out. */
  aliases?: readonly string[]
  /** A key that is held down acts repeatedly. */
  repeats?: true
  /** Also acts while the user is typing. */
  whileTyping?: true
}

/** Action of a shortcut. If it returns false, other handlers receive the key. */
type Action = (event: KeyboardEvent) => unknown
type Shortcuts = Readonly<Record<string, Shortcut>>
interface Registration {
  shortcuts: Shortcuts
  actions: Readonly<Record<string, Action | undefined>>
}

/** Time in which the second key of a sequence must follow, in milliseconds. */
const sequenceMs = 1_500
/** Keys that operate a focused control. */
const controlKeys = [' ', 'Enter']
const controls = 'a, button, summary, input[type="checkbox"]'

/** Registered shortcuts; the last ones take precedence. */
const registrations: Registration[] = []
let first = { key: '', at: 0 }

/** Returns the key of an event in the notation of shortcuts; empty: a modifier key, or a combination with Alt. */
function keyOf({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): string {
  if (altKey || ['Control', 'Shift', 'Alt', 'Meta'].includes(key)) return ''
  const name = key.length === 1 ? key.toLowerCase() : key
  return ctrlKey || metaKey ? `Ctrl+${name}` : name
}

const allKeys = ({ keys, aliases = [] }: Shortcut): readonly string[] => [...keys, ...aliases]

/** Returns the name of the shortcut that an event presses. */
export function pressedShortcut<Name extends string>(
  shortcuts: Readonly<Record<Name, Shortcut>>,
  event: KeyboardEvent,
): Name | undefined {
  const key = keyOf(event)
  return (Object.keys(shortcuts) as Name[]).find((name) => allKeys(shortcuts[name]).includes(key))
}

function press(event: KeyboardEvent): void {
  const pressed = keyOf(event)
  if (pressed === '' || event.defaultPrevented) return
  const before = event.timeStamp - first.at < sequenceMs ? first.key : ''
  first = { key: '', at: 0 }
  const taken = typingOrDialogOpen(event) || isForControl(event)
  const covered = isDialogOpen()
  const key = before === '' ? pressed : `${before} ${pressed}`
  for (const { shortcuts, actions } of registrations.toReversed()) {
    for (const [name, shortcut] of Object.entries(shortcuts)) {
      const act = actions[name]
      if (act === undefined || !allKeys(shortcut).includes(key) || (shortcut.whileTyping ? covered : taken)) continue
      if (event.repeat && !shortcut.repeats) return
      if (act(event) === false) continue
      event.preventDefault()
      return
    }
  }
  if (!taken && before === '' && startsSequence(pressed)) first = { key: pressed, at: event.timeStamp }
}

const isForControl = ({ key, target }: KeyboardEvent): boolean =>
  controlKeys.includes(key) && target instanceof Element && target.closest(controls) !== null

const startsSequence = (key: string): boolean =>
  registrations.some(({ shortcuts }) =>
    Object.values(shortcuts).some(({ keys }) => keys.some((one) => one.startsWith(`${key} `))),
  )

/** Runs `actions` by the keys of `shortcuts` while the component exists. The last registration takes precedence. */
export function useShortcuts<Name extends string>(
  shortcuts: Readonly<Record<Name, Shortcut>>,
  actions: Readonly<Partial<Record<NoInfer<Name>, Action>>>,
): void {
  const registration = { shortcuts, actions }
  if (registrations.length === 0) window.addEventListener('keydown', press)
  registrations.push(registration)
  onScopeDispose(() => {
    registrations.splice(registrations.indexOf(registration), 1)
    if (registrations.length === 0) window.removeEventListener('keydown', press)
  })
}
