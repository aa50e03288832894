import type { Display } from 'electron'
import type { WallChoice, WallDisplay } from '../../shared/app-contract.ts'

/** Describes a connected display as it is stored. */
export function describeDisplay({ id, label, size }: Pick<Display, 'id' | 'label' | 'size'>): WallDisplay {
  return { id, label: label.slice(0, 200), width: Math.round(size.width), height: Math.round(size.height) }
}

/**
 * Finds the display of each chosen wall: by its id, else by name and size, because the system may give a display another id when it
 * comes back.
 * @returns by the index of the choice, each display once
 */
export function findDisplays(
  choices: readonly WallChoice[],
  displays: readonly WallDisplay[],
): ReadonlyMap<number, WallDisplay> {
  const found = new Map<number, WallDisplay>()
  const free = new Map(displays.map((display) => [display.id, display]))
  const take = (matches: (chosen: WallDisplay, display: WallDisplay) => boolean): void => {
    choices.forEach(({ display: chosen }, index) => {
      if (found.has(index)) return
      const display = [...free.values()].find((one) => matches(chosen, one))
      if (display === undefined) return
      found.set(index, display)
      free.delete(display.id)
    })
  }
  take((chosen, { id }) => chosen.id === id)
  take(
    (chosen, { label, width, height }) =>
      label !== '' && chosen.label === label && chosen.width === width && chosen.height === height,
  )
  return found
}
