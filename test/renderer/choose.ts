import { fieldOf } from './devices/operator-page.ts'
import { eventually } from './eventually.ts'

/** Opens the select of this label and picks an option. */
export async function choose(label: string, option: string): Promise<void> {
  const input = await fieldOf(label)
  input.closest<HTMLElement>('.el-select__wrapper')?.click()
  const found = await eventually(() => {
    const one = [...document.querySelectorAll<HTMLElement>('.el-select-dropdown__item')].find(
      (item) => item.textContent?.trim() === option,
    )
    if (!one) throw new Error(`there is no option "${option}"`)
    return one
  })
  found.click()
}
