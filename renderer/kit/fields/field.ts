import { inject, type InjectionKey, onScopeDispose, provide } from 'vue'

/** Values that a labelled field provides to its control. */
interface Field {
  label: string
  /** Connect the control to its label and to the note below it. */
  attributes: { id: string; 'aria-describedby': string; 'aria-invalid': true | undefined }
}

const key: InjectionKey<() => (() => Field) | undefined> = Symbol('field')

/** Provides the field to the first control in it; further controls have labels of their own. */
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
