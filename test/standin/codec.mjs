/**
 * JSON encoding of values that structured clone supports and JSON does not. One function without imports: it is also injected into the page.
 * Covers the types of the console contract, and `undefined`, which IPC transfers.
 */
export function codec() {
  const mark = '$standin'
  const out = (value) => {
    if (value === undefined) return { [mark]: 'undefined' }
    if (typeof value === 'bigint') return { [mark]: 'bigint', value: String(value) }
    if (typeof value === 'number' && !Number.isFinite(value)) return { [mark]: 'number', value: String(value) }
    if (typeof value === 'function' || typeof value === 'symbol') throw new Error('An object could not be cloned.')
    if (typeof value !== 'object' || value === null) return value
    if (value instanceof Date) return { [mark]: 'date', value: value.getTime() }
    if (value instanceof Map) return { [mark]: 'map', value: [...value].map((entry) => entry.map(out)) }
    if (value instanceof Set) return { [mark]: 'set', value: [...value].map(out) }
    if (value instanceof Error) return { [mark]: 'error', value: value.message, name: value.name }
    if (ArrayBuffer.isView(value))
      return { [mark]: 'bytes', value: Array.from(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)) }
    if (Array.isArray(value)) return value.map(out)
    return Object.fromEntries(Object.keys(value).map((key) => [key, out(value[key])]))
  }
  const into = (value) => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(into)
    switch (value[mark]) {
      case 'undefined':
        return undefined
      case 'bigint':
        return BigInt(value.value)
      case 'number':
        return Number(value.value)
      case 'date':
        return new Date(value.value)
      case 'map':
        return new Map(value.value.map((entry) => entry.map(into)))
      case 'set':
        return new Set(value.value.map(into))
      case 'error':
        return Object.assign(new Error(value.value), { name: value.name })
      case 'bytes':
        return new Uint8Array(value.value)
      default:
        return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, into(item)]))
    }
  }
  return { encode: (value) => JSON.stringify(out(value)), decode: (text) => into(JSON.parse(text)) }
}
