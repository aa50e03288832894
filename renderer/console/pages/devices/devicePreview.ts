import { type Component, defineAsyncComponent } from 'vue'

/** Component of the live picture; undefined in a build without it. */
const found = Object.values(import.meta.glob<{ default: Component }>('./DevicePreview.vue'))[0]

export const DevicePreview = found === undefined ? null : defineAsyncComponent(found)
