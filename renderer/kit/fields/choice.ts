import type { InjectionKey } from 'vue'

/** State that a `ChoiceField` shares with its options. */
interface Choice {
  /** Name of the radio group. */
  name: string
  listed(): boolean
  small(): boolean
  isChosen(value: string | number | boolean): boolean
  choose(value: string | number | boolean): void
}

export const choiceKey: InjectionKey<Choice> = Symbol('choice')
