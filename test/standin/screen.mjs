// Displays of the desktop. A test plugs and unplugs them; STANDIN_DISPLAYS says how many there are at the start.
import { EventEmitter } from 'node:events'
import { strict } from './strict.mjs'

/** Displays of 1920 x 1080 stand side by side, the main one at the left. */
const make = (id) => {
  const bounds = { x: (id - 1) * 1920, y: 0, width: 1920, height: 1080 }
  const size = { width: bounds.width, height: bounds.height }
  return { id, label: `Display ${id}`, bounds, workArea: bounds, size, workAreaSize: size, scaleFactor: 1 }
}

const shared = ({ bounds }, { x, y, width, height }) => {
  const across = Math.min(bounds.x + bounds.width, x + width) - Math.max(bounds.x, x)
  const down = Math.min(bounds.y + bounds.height, y + height) - Math.max(bounds.y, y)
  return Math.max(0, across) * Math.max(0, down)
}

class Screen extends EventEmitter {
  _displays = Array.from({ length: Number(process.env.STANDIN_DISPLAYS ?? 1) }, (_, index) => make(index + 1))

  getPrimaryDisplay() {
    return this._displays[0]
  }
  getAllDisplays() {
    return [...this._displays]
  }
  getDisplayMatching(area) {
    return this._displays.toSorted((one, other) => shared(other, area) - shared(one, area))[0]
  }

  /** Stand-in only: plugs a display in at a place; the system may give it another id. */
  _plug(place, id = place) {
    const display = { ...make(place), id }
    this._displays.push(display)
    this.emit('display-added', {}, display)
  }
  /** Stand-in only: the operator exchanges the places of two displays. */
  _swap(one, other) {
    const [first, second] = [one, other].map((id) => this._displays.find((display) => display.id === id))
    const { bounds } = first
    Object.assign(first, { bounds: second.bounds, workArea: second.bounds })
    Object.assign(second, { bounds, workArea: bounds })
    for (const display of [first, second]) this.emit('display-metrics-changed', {}, display, ['bounds', 'workArea'])
  }
  /** Stand-in only. */
  _unplug(id) {
    const display = this._displays.find((one) => one.id === id)
    this._displays = this._displays.filter((one) => one !== display)
    this.emit('display-removed', {}, display)
  }
}

export const screen = strict('screen', new Screen())
