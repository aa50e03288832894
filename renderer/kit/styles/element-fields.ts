/**
 * Style sheets of Element Plus's fields, followed by our overrides. The components that use them import this module,
 * because the sign-in page does not need it.
 */
import 'element-plus/theme-chalk/el-popper.css'
import 'element-plus/theme-chalk/el-scrollbar.css'
import 'element-plus/theme-chalk/el-input.css'
import 'element-plus/theme-chalk/el-select.css'
import 'element-plus/theme-chalk/el-option.css'
import 'element-plus/theme-chalk/el-option-group.css'
import 'element-plus/theme-chalk/el-tag.css'
import './element-fields.css'
