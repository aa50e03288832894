import { inject, type InjectionKey, onScopeDispose, provide } from 'vue'

/** What a labelled field gives to the control in it. */
interface Field {
  label: string
  /** Connect the control to its label and to the note below it. */
  attributes: { id: string; 'aria-describedby': string; 'aria-invalid': true | undefined }
}

const key: InjectionKey<() => (() => Field) | undefined> = Symbol('field')

/** Gives a labelled field to the first control in it; others beside it have names of their own. */
export function provideField(field: () => Field): void {
  let isTaken = false
  provide(key, () => {
    if (isTaken) return undefined
    isTaken = true
    onScopeDispose(() => (isTaken = false))
    return field
  })
}

/** The labelled field of this control; undefined if it stands alone, e.g. in a row of filters. */
export const useField = (): (() => Field | undefined) => inject(key, undefined)?.() ?? (() => undefined)
